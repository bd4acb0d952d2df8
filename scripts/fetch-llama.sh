#!/usr/bin/env bash
# Fetches the pinned llama.cpp into DIR: its shared libraries and its source tree (headers, vendored
# single-header libraries, converters). Both come out of npm packages, checked by their integrity.
#   scripts/fetch-llama.sh DIR [VARIANT]     VARIANT: linux-x64 (default), linux-x64-cuda, ...
set -euo pipefail
dir=${1:?usage: fetch-llama.sh DIR [VARIANT]}
variant=${2:-linux-x64}
version=3.21.1
commit=80fb11ac73e66d89eae2c6a91d8a77428fa733ed
declare -A integrity=(
  [node-llama-cpp]=sha512-E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==
  [@node-llama-cpp/linux-x64]=sha512-Totj6RTDMGo3FoK2yNUaz/oGmZD0olAqTrRluFUWmu0kW2i9TOzHSW0OWCAiGkzRCVX0WsU2CyUQo/W2NYtdPA==
)
mkdir -p "$dir"
tmp=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# fetch PACKAGE: leaves its unpacked folder at $tmp/package. A variant without a pinned digest is
# still checked by npm against the registry's own.
fetch() {
  local name=$1 file digest
  file=$(cd "$tmp" && npm pack --silent "$name@$version") || {
    echo "cannot fetch the npm package $name@$version: is npm installed and its registry reachable?" >&2
    exit 1
  }
  digest=sha512-$(openssl dgst -sha512 -binary "$tmp/$file" | base64 -w0)
  if [ -n "${integrity[$name]:-}" ] && [ "$digest" != "${integrity[$name]}" ]; then
    echo "integrity of $name@$version: got $digest, want ${integrity[$name]}; refusing it" >&2
    exit 1
  fi
  rm -rf "$tmp/package"
  tar xzf "$tmp/$file" -C "$tmp"
  rm "$tmp/$file"
}

if [ ! -e "$dir/src/.complete-$commit" ]; then
  echo "fetching llama.cpp sources (35 MB)" >&2
  fetch node-llama-cpp
  rm -rf "$dir/src"
  git -c advice.detachedHead=false clone --quiet "$tmp/package/llama/gitRelease.bundle" "$tmp/src"
  [ "$(git -C "$tmp/src" rev-parse HEAD)" = "$commit" ] || {
    echo "llama.cpp bundle holds $(git -C "$tmp/src" rev-parse HEAD), want $commit" >&2
    exit 1
  }
  rm -rf "$tmp/src/.git"
  mv "$tmp/src" "$dir/src"
  touch "$dir/src/.complete-$commit"
fi
if [ ! -e "$dir/$variant/.complete-$version" ]; then
  echo "fetching llama.cpp libraries for $variant (10 MB or more)" >&2
  fetch "@node-llama-cpp/$variant"
  rm -rf "${dir:?}/$variant"
  mv "$tmp/package/bins/$variant" "$dir/$variant"
  cp "$tmp/package/LICENSE" "$dir/$variant/LICENSE.node-llama-cpp"
  touch "$dir/$variant/.complete-$version"
fi
