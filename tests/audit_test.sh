#!/usr/bin/env bash
# Records a run of every method that the program knows, and of each action by force, and lets
# scripts/audit_run.py compute them again. The script knows nothing of hyper but the trace.
#   audit_test.sh HYPER MODEL
# Without python3 it is skipped, but fails where CI is set in the environment.
set -euo pipefail
hyper=$1
model=$2
audit=$(cd "$(dirname "$0")/.." && pwd)/scripts/audit_run.py
command -v python3 >/dev/null || { echo "no python3: nothing was audited"; [ -z "${CI:-}" ] && exit 77; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# record NAME METHOD WIDTH [FLAG...]
record() {
  local name=$1 method=$2 width=$3
  shift 3
  "$hyper" run "Start with 25, add 13, multiply by 4. What is the result?" --model "$model" \
    --threads 1 --no-log --preset short --seed 5 --method "$method" --width "$width" --max-tokens 120 \
    --trace "$folder/$name.jsonl" "$@" >"$folder/$name.out" 2>&1 ||
    { echo "$name:"; cat "$folder/$name.out"; exit 1; }
}

methods=$("$hyper" help methods | sed -n 's/^  \([a-z][a-z0-9-]*\).*/\1/p')
[ "$(wc -w <<<"$methods")" -ge 34 ] || { echo "not all methods were found: $methods"; exit 1; }
for method in $methods; do
  case $method in
    cot) record "$method" "$method" 1 ;;
    hyper* | deepconf | deepconf-high | deepconf-top10 | *-only | manual) record "$method" "$method" 12 ;;
    mcts-conf) record "$method" "$method" 4 --step-tokens 16 --iterations 6 ;;
    *-conf) record "$method" "$method" 4 --step-tokens 16 ;;
    *) record "$method" "$method" 6 ;;
  esac
done
# Trees by the other scorers that need no second model; a node is a line of at most 16 tokens.
record rebase-ptrue rebase-ptrue 4 --step-tokens 16
record tot-judge tot-judge 2 --step-tokens 16 --judge-tokens 16
record tot-dfs tot-conf 4 --search dfs --step-tokens 16
record bon-weighted bon-mean 6 --vote weighted
record some-best deepconf-offline-filtered 10 --keep-percent 30
record rpc-pruned rpc 24
# Every action by force, without the limits that keep expansions early.
record single hyper 12 --actions single_token --threshold off
record multi hyper 12 --actions multi_token --late-expansion true
record branch hyper 12 --actions branch --late-expansion true
record kept hyper 12 --actions multi_token --late-expansion true --keep-finished true
record voters multi-token-only 12 --late-expansion true --keep-finished true \
  --vote-clones false --vote-warmup false
# Runs that end because their vote is decided.
for method in hyper sc deepconf-top10 roe sc-adaptive; do
  record "stop-$method" "$method" 24 --stop 0.8
done
record sure sc 24 --stop sure
record probed sc 24 --stop 0.8 --probe on
grep -q '"kind":"probe"' "$folder"/probed.jsonl || { echo "nothing was probed"; exit 1; }
# A pool that opens before the warm-up has ended.
record open hyper 12 --warmup-barrier off
record waves sc 24 --stop 0.9 --launch waves
record esc-cut esc 20
for signal in topk logprob surprise entropy self-certainty; do
  record "$signal" hyper 12 --confidence "$signal" --threshold top:3
  record "multi-$signal" multi-token-only 12 --confidence "$signal" --late-expansion true
done
record signal-vote sc 12 --confidence logprob --vote confidence
record cisc sc 12 --confidence logprob --vote cisc --vote-temperature 0.05
record signal-tail deepconf-offline-tail 6 --confidence surprise
record signal-steps rebase-conf 4 --step-tokens 16 --confidence logprob
grep -q '"record":"stop"' "$folder"/stop-sc.jsonl || { echo "nothing was stopped"; exit 1; }
"$audit" "$folder"/*.jsonl
