#!/usr/bin/env bash
# Fetches the pinned uPlot (plots of the page) into DIR: uplot.js, uplot.css and its LICENSE, out of
# the npm package, checked by its digest. What is complete is left alone, without network.
#   scripts/fetch-uplot.sh DIR
set -euo pipefail

dir=${1:?usage: fetch-uplot.sh DIR}
version=1.6.32
digest=KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==

fail() {
  echo "fetch-uplot: $*" >&2
  exit 1
}

if [ -e "$dir/.complete-$version" ]; then exit 0; fi
mkdir -p "$dir" || fail "cannot make the folder '$dir'"
exec 9>"$dir/.lock"
flock 9
if [ -e "$dir/.complete-$version" ]; then exit 0; fi
command -v npm >/dev/null || fail "npm is not installed; run scripts/install-deps.sh"
tmp=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
echo "fetching uPlot $version (0.1 MB)" >&2
(cd "$tmp" && npm pack --loglevel=error --prefer-offline "uplot@$version" >/dev/null 2>npm.log) || {
  cat "$tmp/npm.log" >&2
  fail "cannot fetch the npm package uplot@$version: is the npm registry reachable?"
}
found=$(openssl dgst -sha512 -binary "$tmp/uplot-$version.tgz" | base64 -w0)
[ "$found" = "$digest" ] || fail "uplot@$version has the digest $found, want $digest; refusing it"
tar xzf "$tmp/uplot-$version.tgz" -C "$tmp"
cp "$tmp/package/dist/uPlot.iife.min.js" "$dir/uplot.js"
cp "$tmp/package/dist/uPlot.min.css" "$dir/uplot.css"
cp "$tmp/package/LICENSE" "$dir/LICENSE"
touch "$dir/.complete-$version"
