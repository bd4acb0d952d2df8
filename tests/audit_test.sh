#!/usr/bin/env bash
# Records a run of each method that decides, prunes or votes, and lets scripts/audit_run.py compute
# it again. The script knows nothing of hyper but the trace.
#   audit_test.sh HYPER MODEL
set -euo pipefail
hyper=$1
model=$2
audit=$(cd "$(dirname "$0")/.." && pwd)/scripts/audit_run.py
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# record NAME METHOD WIDTH [FLAG...]
record() {
  local name=$1 method=$2 width=$3
  shift 3
  "$hyper" run "Start with 25, add 13, multiply by 4. What is the result?" --model "$model" \
    --threads 1 --no-log --preset short --seed 5 --method "$method" --width "$width" --max-tokens 120 \
    --trace "$folder/$name.jsonl" "$@" >"$folder/$name.out" 2>&1 ||
    { cat "$folder/$name.out"; exit 1; }
}

for method in hyper hyper-no-single hyper-no-multi hyper-no-branch hyper-roe-sampling \
  single-token-only multi-token-only manual deepconf deepconf-high deepconf-top10 sc roe; do
  record "$method" "$method" 12
done
record self-certainty self-certainty 6
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
# A pool that opens before the warm-up has ended.
record open hyper 12 --warmup-barrier off
record waves sc 24 --stop 0.9 --launch waves
record sc-cap sc-cap 12
record esc esc 20
grep -q '"record":"stop"' "$folder"/stop-sc.jsonl || { echo "nothing was stopped"; exit 1; }
"$audit" "$folder"/*.jsonl
