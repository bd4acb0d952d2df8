#!/usr/bin/env bash
# Writes tests/goldens/smollm2.json: greedy texts of the model that `make models` fetches, by plain
# llama.cpp. Needs a build (make); run it again only where the model or llama.cpp changes.
#   tests/goldens/smollm2_golden.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
model=models/downloaded/SmolLM2-135M-Instruct.Q4_1.gguf
[[ -f $model ]] || {
  echo "smollm2_golden: $model is missing; make models fetches it" >&2
  exit 1
}
cmake --build "$build" --target smollm2_golden
backends=$(dirname "$(ldd "$build/smollm2_golden" | sed -n 's/.*libllama\.[^ ]* => \([^ ]*\).*/\1/p')")
"$build/smollm2_golden" "$model" "$backends" >tests/goldens/smollm2.json
