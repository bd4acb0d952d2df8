#!/usr/bin/env bash
# For owners of a real model: what it takes, whether it works here, and a table to paste.
#   bench/real.sh MODEL.gguf [FLAG...]     flags of `hyper eval`, such as --width 32 --gpu-layers -1
#     HYPER      the program [build/hyper]
#     QUESTIONS  questions of the suite [30]
#     SUITE      suite by name or file; --data FILE where it needs its questions [tinymath]
# Interrupted, the same command goes on where it stopped (the study is MODEL-SUITE.study.db).
set -euo pipefail

model=${1:?usage: bench/real.sh MODEL.gguf [FLAG...]}
shift
hyper=${HYPER:-$(dirname "$0")/../build/hyper}
questions=${QUESTIONS:-30}
suite=${SUITE:-tinymath}
study=$(basename "$model" .gguf)-$(basename "$suite" .json).study.db
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The flags that `hyper run` knows too, so that plan and checks see the same engine.
shared=()
flags=("$@")
for ((i = 0; i < ${#flags[@]}; i += 1)); do
  case ${flags[i]} in
    --width | --ctx | --kv-type | --kv | --threads | --gpu-layers | --tensor-split | --main-gpu | \
      --determinism | --warmup | --preset)
      shared+=("${flags[i]}" "${flags[i + 1]:?${flags[i]} needs a value}")
      ;;
  esac
done

echo "## Memory"
"$hyper" run --plan --model "$model" "${shared[@]}"

echo
echo "## Self-checks"
ask() {
  "$hyper" run --model "$model" "${shared[@]}" --seed 7 --max-tokens 96 --json --method "$1" \
    "What is 17 * 3 + 4?" >"$2" 2>"$work/errors" || { cat "$work/errors" >&2 && return 1; }
}
ask hyper "$work/first.json"
ask hyper "$work/second.json"
if cmp -s "$work/first.json" "$work/second.json"; then
  echo "equal seeds give equal bytes: yes"
else
  echo "equal seeds give equal bytes: NO (only --determinism strict promises it)"
fi
ask sc "$work/sc.json"
echo "self-consistency answers: yes"
"$hyper" --version

echo
echo "## $questions questions of $suite"
"$hyper" eval --model "$model" --suite "$suite" --questions "$questions" \
  --methods sc,deepconf,hyper --study "$study" --table results,accounting --format markdown "$@"
