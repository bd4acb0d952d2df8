#!/usr/bin/env bash
# Fetches the pinned packages of the page into DIR: uPlot (charts) and Temml (formulas), each as its script
# with its LICENSE, out of the npm packages, checked by their digests. What is complete is left alone,
# without network.
#   scripts/fetch-page.sh DIR
set -euo pipefail

dir=${1:?usage: fetch-page.sh DIR}

fail() {
  echo "fetch-page: $*" >&2
  exit 1
}

# fetch NAME VERSION DIGEST FILE=NAME...: copies FILE of the package as NAME.
fetch() {
  local name=$1 version=$2 digest=$3 found file
  shift 3
  if [ -e "$dir/.complete-$name-$version" ]; then return; fi
  command -v npm >/dev/null || fail "npm is not installed; run scripts/install-deps.sh"
  echo "fetching $name $version" >&2
  (cd "$tmp" && npm pack --loglevel=error --prefer-offline "$name@$version" >/dev/null 2>npm.log) || {
    cat "$tmp/npm.log" >&2
    fail "cannot fetch the npm package $name@$version: is the npm registry reachable?"
  }
  found=$(openssl dgst -sha512 -binary "$tmp/$name-$version.tgz" | base64 -w0)
  [ "$found" = "$digest" ] || fail "$name@$version has the digest $found, want $digest; refusing it"
  mkdir "$tmp/$name"
  tar xzf "$tmp/$name-$version.tgz" -C "$tmp/$name"
  for file in "$@"; do
    cp "$tmp/$name/package/${file%%=*}" "$dir/${file#*=}"
  done
  touch "$dir/.complete-$name-$version"
}

mkdir -p "$dir" || fail "cannot make the folder '$dir'"
exec 9>"$dir/.lock"
flock 9
tmp=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
fetch uplot 1.6.32 \
  KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw== \
  dist/uPlot.iife.min.js=uplot.js dist/uPlot.min.css=uplot.css LICENSE=LICENSE.uplot
fetch temml 0.13.5 \
  aPkDDgunanpLNL0ql32HbolqLep+w8DRcVXRql7rWrMt/PhczdLgL4UBYYVU3BYjCNjkGq4EqwIicu/zWr1iOg== \
  dist/temml.min.js=temml.js LICENSE=LICENSE.temml
