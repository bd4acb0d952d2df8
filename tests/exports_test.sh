#!/usr/bin/env bash
# A shared library exports what headers of include/hyper declare and nothing else, and needs no
# library that only other parts of the project use.
#   tests/exports_test.sh SOURCE_DIR LIBRARY MOST ALLOWED...
#     MOST     symbols that it may export; a new function of a public header raises it
#     ALLOWED  such as libfmt, beside the C++ run time and llama.cpp
set -euo pipefail
usage="usage: exports_test.sh SOURCE_DIR LIBRARY MOST ALLOWED..."
headers=${1:?$usage}/include/hyper
library=${2:?$usage}
most=${3:?$usage}
shift 3
hidden=$(grep -L '^#pragma GCC visibility push(default)' "$headers"/*.h || true)
if [ -n "$hidden" ]; then
  echo "these headers lack \"#pragma GCC visibility push(default)\" before their declarations:" $hidden >&2
  exit 1
fi

# Words that headers hold outside comments, an empty line, symbols. Every name in a symbol must be
# one of the words: hyper, Pool and Apply of "hyper::Pool::Apply(int) const". A lambda belongs to the
# function that holds it.
count=$({
  cat "$headers"/*.h | sed -E 's|//.*||' | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u
  echo
  nm -D --defined-only "$library" | sed -E 's/^[0-9a-f]+ [A-Za-z] //' | c++filt | sort -u
} | awk -v library="$library" '
  !symbols { if ($0 == "") symbols = 1; else word[$0]; next }
  {
    name = $0
    sub(/^[a-z ]* for /, "", name)  # vtable for X
    sub(/::\{lambda.*/, "", name)
    while (gsub(/<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]/, "", name)) {}
    sub(/::operator.*| const$/, "", name)
    parts = split(name, part, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= parts; ++i) {
      if (part[i] != "" && !(part[i] in word)) {
        print library " exports " $0 ", but no public header declares " part[i] > "/dev/stderr"
        wrong = 1
      }
    }
    ++count
  }
  END {
    print count
    exit wrong || count == 0
  }')

if ((count > most)); then
  echo "$library exports $count symbols, more than $most; raise that if they are meant to be public" >&2
  exit 1
fi

for file in $(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
  name=${file%%.*}
  case $name in
    libstdc++ | libm | libgcc_s | libc | ld-linux-* | libllama | libllama-common | libggml*) ;;
    *)
      if [[ " $* " != *" $name "* ]]; then
        echo "$library needs $file, which is not among: $*" >&2
        exit 1
      fi
      ;;
  esac
done
echo "$library exports $count symbols, all of public headers"
