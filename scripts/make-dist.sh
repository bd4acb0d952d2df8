#!/usr/bin/env bash
# Packs the installed tree with every library that it needs beyond glibc into a tarball that runs
# wherever it is unpacked, on any Linux of this processor family with a glibc at least as new.
#   scripts/make-dist.sh BUILD_DIR [OUTPUT_DIR]     needs patchelf
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: make-dist.sh BUILD_DIR [OUTPUT_DIR]}
output=${2:-$build/dist}

fail() {
  echo "make-dist: $*" >&2
  exit 1
}

command -v patchelf >/dev/null || fail "patchelf is missing; apt-get install patchelf"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[^=]*=//p' "$build/CMakeCache.txt")
name=hyper-$version-linux-$(uname -m)
root=$output/$name
rm -rf --one-file-system "$root"
mkdir -p "$output"
cmake --install "$build" --prefix "$(realpath -m "$root")" --strip >"$output/install.log" ||
  fail "cmake --install failed: $(tail -5 "$output/install.log")"
libraries=$(dirname "$(find "$root" -name 'libggml-base.so*' -print -quit)")
[ -d "$libraries" ] || fail "$root has no folder of llama.cpp's libraries"
rm -rf "$libraries/native"  # fits the processor of this machine alone

# Copies a library beside the others, with its licence as Debian has it.
take() {
  install -m 644 "$1" "$libraries/$2"
  patchelf --set-rpath '$ORIGIN' "$libraries/$2"
  local owner
  owner=$(dpkg -S "*/$(basename "$(realpath "$1")")" 2>/dev/null | head -1 | cut -d: -f1) || true
  if [ -n "$owner" ] && [ -f "/usr/share/doc/$owner/copyright" ]; then
    install -D -m 644 "/usr/share/doc/$owner/copyright" "$root/share/doc/hyper/licences/$owner"
  fi
}

# What belongs to glibc comes from the machine on which the program runs.
glibc='^(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util|anl|nss_.*|BrokenLocale))\.so'

# outside: "NAME PATH" of each library that a file of the tree takes from elsewhere, also by way of
# others.
outside() {
  local file
  find "$root/bin" "$root"/lib* -type f \( -perm -u+x -o -name '*.so*' \) | while read -r file; do
    env -i ldd "$file" 2>/dev/null | awk '$2 == "=>" { print $1, $3 }'
  done | sort -u | grep -vE "$glibc" | grep -vF " $(realpath "$root")/" || true
}

while read -r soname path; do
  [ "$path" != not ] || fail "$soname is not on this machine"
  take "$path" "$soname"
done < <(outside)
[ -z "$(outside)" ] || fail "the tree still needs: $(outside | tr '\n' ' ')"

tar -C "$output" --owner=0 --group=0 --sort=name -czf "$output/$name.tar.gz" "$name"
echo "$output/$name.tar.gz ($(du -h "$output/$name.tar.gz" | cut -f1))" >&2
