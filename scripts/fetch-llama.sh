#!/usr/bin/env bash
# Fetches the pinned llama.cpp into DIR: its source tree (headers, vendored single-header libraries,
# converters) as DIR/src and its shared libraries as DIR/VARIANT. Both come out of npm packages,
# checked by their digests. What is complete is left alone, without network; what was interrupted
# starts afresh; calls side by side wait for each other.
#   scripts/fetch-llama.sh DIR [VARIANT]
#     VARIANT  linux-x64 (default), linux-arm64, linux-x64-vulkan, linux-x64-cuda, or none: the
#              source tree alone
set -euo pipefail

dir=${1:?usage: fetch-llama.sh DIR [VARIANT]}
variant=${2:-linux-x64}
version=3.21.1
commit=80fb11ac73e66d89eae2c6a91d8a77428fa733ed
declare -A digest_of=(
  [node-llama-cpp]=E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==
  [@node-llama-cpp/linux-x64]=Totj6RTDMGo3FoK2yNUaz/oGmZD0olAqTrRluFUWmu0kW2i9TOzHSW0OWCAiGkzRCVX0WsU2CyUQo/W2NYtdPA==
  [@node-llama-cpp/linux-arm64]=eI3anSEGzJiwF2rpMpZVTdHzw47LztbvfvuRzlu/fPO18ROnBOd+75RPUBlV6qENPpmNtbov85+3VODwEwBurg==
  [@node-llama-cpp/linux-x64-vulkan]=flEeSzONQ6OIm5bYKLQf4eEnBzcC5WugFbyPUwkCqyyOFZ8pH0H9ulQ7ZNDLSIczeKneMRJornlyY1Hq7d3GDA==
  [@node-llama-cpp/linux-x64-cuda]=idsE55VoD/FbvLhnBC9krUJaUoC0XnebseAAnCpm/brKf61HEbu+idgbb5eN6mxkjLSrHtILprJ0nDcUJjVrFg==
  [@node-llama-cpp/linux-x64-cuda-ext]=1PuURowccBcks3CCoMe1mTHh5vD0V5bFHMUEgtbI/OSDjpP+Pdbn+lf42CGUrepTzR8kCH1HovQ7d8q6/vuIKA==
)

fail() {
  echo "fetch-llama: $*" >&2
  exit 1
}

src_complete() { [ -e "$dir/src/.complete-$commit" ]; }
libraries_complete() { [ "$variant" = none ] || [ -e "$dir/$variant/.complete-$version" ]; }

if src_complete && libraries_complete; then exit 0; fi
if [ "$variant" != none ] && [ -z "${digest_of[@node-llama-cpp/$variant]:-}" ]; then
  fail "there is no variant '$variant'; it takes linux-x64, linux-arm64, linux-x64-vulkan," \
    "linux-x64-cuda or none"
fi
mkdir -p "$dir" || fail "cannot make the folder '$dir'"
dir=$(cd "$dir" && pwd)  # npm runs in a folder of its own
exec 9>"$dir/.lock"
flock 9
command -v npm >/dev/null || fail "npm is not installed; run scripts/install-deps.sh"
rm -rf "$dir"/fetch.*
tmp=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# fetch PACKAGE: leaves its unpacked folder at $tmp/package.
fetch() {
  local package=$1 attempt file digest
  rm -rf "$tmp/pack" "$tmp/package"
  mkdir "$tmp/pack"
  for attempt in 1 2 3; do
    if (cd "$tmp/pack" && npm pack --loglevel=error --prefer-offline --fetch-retries=0 "$package@$version" \
      >/dev/null 2>"$tmp/npm.log"); then
      break
    fi
    if [ "$attempt" = 3 ]; then
      cat "$tmp/npm.log" >&2
      fail "cannot fetch the npm package $package@$version (tried 3 times):" \
        "is the npm registry reachable?"
    fi
    sleep "$attempt"
  done
  file=$(echo "$tmp"/pack/*.tgz)
  digest=$(openssl dgst -sha512 -binary "$file" | base64 -w0)
  [ "$digest" = "${digest_of[$package]}" ] ||
    fail "$package@$version has the digest $digest, want ${digest_of[$package]}; refusing it"
  tar xzf "$file" -C "$tmp" || fail "cannot unpack $package@$version: is the disk full?"
}

if ! src_complete; then
  echo "fetching the sources of llama.cpp (35 MB)" >&2
  fetch node-llama-cpp
  git -c advice.detachedHead=false clone --quiet "$tmp/package/llama/gitRelease.bundle" "$tmp/src"
  head=$(git -C "$tmp/src" rev-parse HEAD)
  [ "$head" = "$commit" ] || fail "the bundle holds llama.cpp $head, want $commit"
  rm -rf "$tmp/src/.git" "${dir:?}/src"
  touch "$tmp/src/.complete-$commit"
  mv "$tmp/src" "$dir/src"
fi
if ! libraries_complete; then
  echo "fetching llama.cpp's libraries for $variant" >&2
  parts=("@node-llama-cpp/$variant")
  if [ -n "${digest_of[@node-llama-cpp/$variant-ext]:-}" ]; then
    parts+=("@node-llama-cpp/$variant-ext")  # too large for one package
  fi
  mkdir "$tmp/libraries"
  for part in "${parts[@]}"; do
    fetch "$part"
    cp -a "$tmp"/package/bins/*/. "$tmp/libraries/"
    cp "$tmp/package/LICENSE" "$tmp/libraries/LICENSE.node-llama-cpp"
  done
  touch "$tmp/libraries/.complete-$version"
  rm -rf "${dir:?}/$variant"
  mv "$tmp/libraries" "$dir/$variant"
fi
