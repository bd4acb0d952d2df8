#!/usr/bin/env bash
# Installs the Debian packages that are missing; does nothing, at once, when none is.
#   scripts/install-deps.sh            what `make`, `make demo` and `make test` need
#   scripts/install-deps.sh ci         also what .ci/run needs: clang, its format and tidy
#   scripts/install-deps.sh full       also what `make check-full` needs, and make dist: debootstrap, ..
set -euo pipefail

level=${1:-build}
packages=(g++ cmake ninja-build ccache git ca-certificates openssl npm pkg-config
  libgtest-dev libcalcium-dev libantic-dev libflint-arb-dev libflint-dev
  libhwy-dev libcli11-dev libfmt-dev coinor-libcbc-dev zlib1g-dev libsqlite3-dev
  libcurl4-openssl-dev libsimdjson-dev libutf8proc-dev)
case $level in
  build) ;;
  ci) packages+=(clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14) ;;
  full) packages+=(clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 debootstrap gcovr
    valgrind chromium python3-venv python3-dev curl wrk libbenchmark-dev patchelf
    mesa-vulkan-drivers libvulkan1) ;;
  *)
    echo "install-deps: there is no set '$level'; it takes build, ci or full" >&2
    exit 1
    ;;
esac

# npm and pkg-config may come from other packages (your own Node, pkgconf).
provided() {
  case $1 in npm | pkg-config) command -v "$1" >/dev/null ;; *) false ;; esac
}

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
missing=()
for package in "${packages[@]}"; do
  if [[ $'\n'$installed$'\n' != *$'\n'$package$'\n'* ]] && ! provided "$package"; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

echo "installing: ${missing[*]}" >&2
if [ "$(id -u)" != 0 ]; then
  echo "install-deps: not root; run 'sudo apt-get install ${missing[*]}' and try again" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update -qq &&
  apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
  cat "$log" >&2
  echo "install-deps: apt-get failed (above); check network, disk and the package sources" >&2
  exit 1
fi
