#!/usr/bin/env bash
# Runs a fuzzer of a build folder's `fuzzers` with its seeds (PROGRAM.seeds) and its dictionary under
# fuzz/, where it has them, on a scratch folder of inputs; what it finds is left there.
#   scripts/run-fuzzer.sh PROGRAM SECONDS
set -euo pipefail
program=${1:?usage: run-fuzzer.sh PROGRAM SECONDS}
seconds=${2:?usage: run-fuzzer.sh PROGRAM SECONDS}
source=$(cd "$(dirname "$0")/.." && pwd)
name=$(basename "$program" _fuzz)
scratch=$program.inputs
arguments=("$scratch")
mkdir -p "$scratch"
[ ! -d "$program.seeds" ] || arguments+=("$program.seeds")
for words in "$source"/fuzz/*/"$name".dict; do
  [ ! -e "$words" ] || arguments+=(-dict="$words")
done
log=$program.log
if ! "$program" "${arguments[@]}" -artifact_prefix="$scratch/" -max_total_time="$seconds" \
  -print_final_stats=1 >"$log" 2>&1; then
  tail -60 "$log"
  echo "FAILED: ${program##*/}; the input is in $scratch"
  exit 1
fi
echo "== ${program##*/}: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, no finding"
