#!/usr/bin/env bash
# hyper serve under tools that others wrote: schemathesis fuzzes the served description, wrk keeps many
# connections busy, lm-eval runs a small task. Part of `make check-full`.
#   tests/server_tools_check.sh HYPER BIN [STEP...]     BIN: folder with `st` and `lm_eval`
#                                                       steps: schemathesis wrk lm_eval; none: all
set -euo pipefail
hyper=${1:?usage: server_tools_check.sh HYPER BIN [STEP...]}
bin=${2:?usage: server_tools_check.sh HYPER BIN [STEP...]}
shift 2
steps=("$@")
[ $# -gt 0 ] || steps=(schemathesis wrk lm_eval)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server=
trap 'stop; rm -rf "$work"' EXIT

# Starts the server with these options; its address goes into $url.
serve() {
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
  serve --engine scripted --queue 1000
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
