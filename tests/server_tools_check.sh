#!/usr/bin/env bash
# hyper serve under tools that others wrote: curl asks as a user at a terminal would, schemathesis fuzzes
# the served description, wrk keeps many connections busy, lm-eval runs a small task. Part of
# `make check-full`.
#   tests/server_tools_check.sh HYPER BIN [STEP...]     BIN: folder with `st` and `lm_eval`
#                                                       steps: curl schemathesis wrk lm_eval; none: all
set -euo pipefail
hyper=${1:?usage: server_tools_check.sh HYPER BIN [STEP...]}
bin=${2:?usage: server_tools_check.sh HYPER BIN [STEP...]}
shift 2
steps=("$@")
[ $# -gt 0 ] || steps=(curl schemathesis wrk lm_eval)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server=
trap 'stop; rm -rf "$work"' EXIT

# Starts the server with these options; its address goes into $url.
serve() {
  rm -f "$work/serve.out"
  "$hyper" serve --port 0 "$@" >"$work/serve.out" &
  server=$!
  until [ -s "$work/serve.out" ]; do
    kill -0 "$server"
    sleep 0.1
  done
  url=$(sed -n 's|.* at \(http://.*\)/$|\1|p' "$work/serve.out")
}

# Ends the server, which must go well.
stop() {
  [ -n "$server" ] || return 0
  kill "$server"
  wait "$server"
  server=
}

metric() { curl -s "$url/metrics" | sed -n "s/^hyper_$1 //p"; }

expect() {
  [ "$2" "$3" "$4" ] || { echo "FAILED: $1 ($2 $3 $4)" >&2; exit 1; }
  echo "ok: $1 ($2)"
}

# status CURL_ARGUMENT...: of the reply, which is left in reply; its headers in headers.
status() { curl -s --max-time 60 -o "$work/reply" -D "$work/headers" -w '%{http_code}' "$@"; }

chat() { status "$url/v1/chat/completions" -d "$1" "${@:2}"; }

# has NAME FILE PATTERN: a line of that file fits.
has() {
  grep -qiE -- "$3" "$work/$2" || { echo "FAILED: $1; $2 has no '$3':" >&2; cat "$work/$2" >&2; exit 1; }
  echo "ok: $1"
}

has_not() {
  ! grep -qiE -- "$3" "$work/$2" || { echo "FAILED: $1; $2 has '$3'" >&2; exit 1; }
  echo "ok: $1"
}

question='"messages": [{"role": "user", "content": "12 * 7 = ?"}], "max_tokens": 64'

check_curl() {
  local port pid i
  printf 'secret-key\n' >"$work/key"
  serve --engine scripted --api-key-file "$work/key" --lanes 8 --verbose 2>"$work/log"
  port=${url##*:}
  expect 'listens on loopback alone' "$(ss -Hltn "sport = :$port" | awk '{ print $4 }')" = "127.0.0.1:$port"
  expect 'without a key' "$(status "$url/v1/models")" = 401
  has 'the reply says how' headers '^WWW-Authenticate: Bearer'
  expect 'with a wrong key' "$(status -H 'Authorization: Bearer secret-kez' "$url/v1/models")" = 401
  expect 'health needs no key' "$(status "$url/health")" = 200
  local -a key=(-H 'Authorization: Bearer secret-key')
  expect 'with the key' "$(status "${key[@]}" "$url/v1/models")" = 200
  expect 'with the key in its other header' "$(status -H 'X-Api-Key: secret-key' "$url/v1/models")" = 200
  has_not 'no origin is allowed' headers '^Access-Control-Allow-Origin'
  expect 'a page of another site' "$(status "${key[@]}" -H 'Origin: http://evil.example' "$url/v1/models")" = 403
  expect 'a name bound to this address' "$(status "${key[@]}" -H 'Host: evil.example' "$url/v1/models")" = 403
  expect 'another method' "$(status "${key[@]}" -X DELETE "$url/v1/models")" = 405
  has 'the reply names those it takes' headers '^Allow: GET'
  expect 'no such endpoint' "$(status "${key[@]}" "$url/v1/magic")" = 404
  expect 'a path into the file system' "$(status "${key[@]}" --path-as-is "$url/page/../../etc/passwd")" = 404
  expect 'a method' "$(chat "{\"model\": \"scripted:sc\", $question}" "${key[@]}")" = 200
  has 'the usage counts' reply '"completion_tokens": ?[1-9]'
  expect 'a wrong type' "$(chat '{"model": "scripted", "messages": "x"}' "${key[@]}")" = 400
  has 'the reply names the field' reply '"param": ?"messages"'
  expect 'no JSON' "$(chat '{"model": ' "${key[@]}")" = 400
  head -c 5000000 /dev/zero | tr '\0' ' ' >"$work/large"
  expect 'a large body' "$(status "${key[@]}" --data-binary "@$work/large" "$url/v1/completions")" = 413
  expect 'large headers' "$(status "${key[@]}" -H "X-Long: $(head -c 100000 /dev/zero | tr '\0' x)" "$url/v1/models")" -ge 400
  expect 'a stream' "$(chat "{\"model\": \"scripted:plain\", \"stream\": true, $question}" -N "${key[@]}")" = 200
  has 'the stream ends' reply '^data: \[DONE\]'
  status -H 'X-Quiet: \r\nINJECTED' "${key[@]}" "$url/v1/models?x=%0d%0aINJECTED" >/dev/null
  has_not 'no line of the log is the client'"'"'s' log '^INJECTED'
  # Half a request, then silence: the others are served, and it is dropped.
  exec 7<>"/dev/tcp/127.0.0.1/$port"
  printf 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le' >&7
  expect 'beside a slow client' "$(status "${key[@]}" "$url/v1/models")" = 200
  i=0
  timeout 60 cat <&7 >"$work/slow" || i=$?
  expect 'the slow client is dropped' "$i" = 0
  exec 7>&-
  pid=$server
  stop
  expect 'ended' "$(kill -0 "$pid" 2>/dev/null && echo no || echo yes)" = yes
  serve --engine scripted --cors-origin http://page.example
  expect 'an allowed origin' "$(status -H 'Origin: http://page.example' "$url/v1/models")" = 200
  has 'is told so' headers '^Access-Control-Allow-Origin: http://page.example'
  expect 'its preflight' "$(status -X OPTIONS -H 'Origin: http://page.example' "$url/v1/models")" = 204
  expect 'another origin' "$(status -H 'Origin: http://evil.example' "$url/v1/models")" = 403
  stop
}

# Whether a body that fits the description is taken depends on several fields at once (a pool gives one
# choice, a prompt must fit the context), which the description says in words only: not checked.
check_schemathesis() {
  serve --engine scripted --plain-tokens 64 --time 2
  "$bin/st" run "$url/openapi.json" --seed 7 --max-examples "${EXAMPLES:-50}" \
    --exclude-checks positive_data_acceptance --request-timeout 30 --no-color
  expect 'runs left' "$(metric runs_running)" = 0
  stop
}

check_wrk() {
  serve --engine scripted
  wrk --threads 1 --connections 32 --duration "${SECONDS_OF_WRK:-5}s" \
    --script "$source/tests/server/plain_chat.lua" "$url" | tee "$work/wrk.out"
  grep -q ', not as they should be 0, socket errors 0$' "$work/wrk.out"
  while [ "$(metric runs_running)" != 0 ] || [ "$(metric runs_waiting)" != 0 ]; do sleep 0.1; done
  expect 'lanes beyond those of kept prompts' \
    $(($(metric lanes_open) - $(metric prompt_cache_lanes))) = 0
  stop
}

check_lm_eval() {
  serve --threads "${THREADS:-1}"
  head -n "${QUESTIONS:-16}" "$source/models/tinymath/suite/evaluation-level1.jsonl" >"$work/questions.jsonl"
  mkdir "$work/tasks"
  sed "s|QUESTIONS|$work/questions.jsonl|" "$source/tests/server/lm_eval_task.yaml" >"$work/tasks/tinymath.yaml"
  HF_HOME=$work/hf HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 OPENAI_API_KEY=none "$bin/lm_eval" \
    --model local-chat-completions \
    --model_args "base_url=$url/v1/chat/completions,model=tinymath:plain,num_concurrent=4,max_retries=1" \
    --include_path "$work/tasks" --tasks tinymath_level1 --apply_chat_template --output_path "$work/out"
  python3 - "$work/out" <<'PYTHON'
import glob, json, sys
(path,) = glob.glob(sys.argv[1] + "/**/results*.json", recursive=True)
result = json.load(open(path))
score = result["results"]["tinymath_level1"]["exact_match,boxed"]
print(f"ok: lm-eval, exact match {score:.2f} of {result['n-samples']['tinymath_level1']['effective']}")
sys.exit(score < 0.25)
PYTHON
  stop
}

for step in "${steps[@]}"; do
  echo "== $step"
  "check_$step"
done
