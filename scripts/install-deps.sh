#!/usr/bin/env bash
# Installs the build's Debian packages when any is missing; does nothing otherwise.
set -euo pipefail
packages=(g++ cmake ninja-build git ca-certificates openssl npm
  libgtest-dev libcalcium-dev libantic-dev libflint-arb-dev libflint-dev
  libhwy-dev libcli11-dev libfmt-dev)
missing=()
for package in "${packages[@]}"; do
  if [ "$package" = npm ] && command -v npm >/dev/null; then continue; fi
  if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
echo "installing: ${missing[*]}" >&2
if [ "$(id -u)" != 0 ]; then
  echo "not root: run 'sudo apt-get install ${missing[*]}' and try again" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
