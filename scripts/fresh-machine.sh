#!/usr/bin/env bash
# Makes a bare Debian 12 in a folder and runs commands in it, in a clone of this repository's HEAD:
# what a new user has. Package sources, certificates and npm's settings are those of this machine.
#   scripts/fresh-machine.sh FOLDER COMMAND...      each is timed; the first failure ends it
# Needs root and debootstrap. FOLDER is made where it is missing and used as it is otherwise; it is
# left for a look, `rm -rf --one-file-system FOLDER` removes it.
set -euo pipefail
root=${1:?usage: fresh-machine.sh FOLDER COMMAND...}
shift
source_dir=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "fresh-machine: needs root" >&2; exit 1; }

if [ ! -e "$root/.complete" ]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' | awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
  [ -n "$mirror" ] || { echo "fresh-machine: no package source of bookworm is set up" >&2; exit 1; }
  mkdir -p "$root"
  debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$root" "$mirror" \
    >"$root.log" 2>&1 || { tail -5 "$root.log" >&2; exit 1; }
  rm -f "$root/etc/apt/sources.list"
  for path in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d/99* \
    /etc/apt/auth.conf.d /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates \
    /etc/npmrc /usr/etc/npmrc /root/.npmrc; do
    [ -e "$path" ] || continue
    mkdir -p "$root$(dirname "$path")"
    cp -a "$path" "$root$(dirname "$path")/"
  done
  chroot "$root" update-ca-certificates >/dev/null 2>&1
  touch "$root/.complete"
fi

mounted=()
unmount() {
  for path in "${mounted[@]}"; do umount "$root$path"; done
}
trap unmount EXIT
for path in /proc /sys /dev /dev/pts; do
  mountpoint -q "$root$path" || { mount --bind "$path" "$root$path" && mounted=("$path" "${mounted[@]}"); }
done

environment=(HOME=/root LANG=C.UTF-8 TERM=dumb
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for name in http_proxy https_proxy no_proxy NODE_EXTRA_CA_CERTS; do
  [ -z "${!name:-}" ] || environment+=("$name=${!name}")
done
rm -rf "$root/root/hyper"
git clone --quiet --no-hardlinks "$source_dir" "$root/root/hyper"
for command in "$@"; do
  echo "== $command"
  # CPU time is shown too: wall time says little on a busy machine.
  chroot "$root" /usr/bin/env -i "${environment[@]}" bash -c \
    'cd /root/hyper && TIMEFORMAT="-- %lR of wall time, %lU user, %lS system" && time bash -c "$1"' \
    bash "$command" </dev/null
done
