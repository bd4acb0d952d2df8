#!/usr/bin/env bash
# The shared libraries export what headers of include/hyper declare and nothing else, and need no
# library that only other parts of the project use.
#   tests/exports_test.sh SOURCE_DIR LIBRARY ALLOWED...     ALLOWED: such as libfmt, beside the
#                                                           C++ run time and llama.cpp
set -euo pipefail
headers=${1:?usage: exports_test.sh SOURCE_DIR LIBRARY ALLOWED...}/include/hyper
library=${2:?usage: exports_test.sh SOURCE_DIR LIBRARY ALLOWED...}
shift 2
errors=0
complain() {
  echo "$1" >&2
  errors=$((errors + 1))
}

# Every word that the headers hold outside comments.
words=$(cat "$headers"/*.h | sed -E 's|//.*||' | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u)
declared() { grep -qxF -- "$1" <<<"$words"; }

# The names of a symbol's scopes and of itself, without arguments and template arguments:
# "hyper::Pool::Apply(int)" gives Pool and Apply.
names_of() {
  local symbol=$1 before
  symbol=${symbol#*for } # vtable for X, typeinfo for X
  while before=$symbol && symbol=$(sed -E 's/<[^<>]*>//g; s/\([^()]*\)//g' <<<"$symbol") &&
    [ "$symbol" != "$before" ]; do :; done
  grep -oE '[A-Za-z_~][A-Za-z0-9_]*' <<<"${symbol%% const}" | grep -vxE 'hyper|operator.*|const|abi|cxx11'
}

count=0
while read -r symbol; do
  count=$((count + 1))
  for name in $(names_of "$symbol"); do
    declared "${name#\~}" || complain "$library exports $symbol, but no public header declares $name"
  done
done < <(nm -D --defined-only "$library" | sed -E 's/^[0-9a-f]+ [A-Za-z] //' | c++filt | sort -u)
[ "$count" -gt 0 ] || complain "$library exports nothing"

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for file in $needed; do
  name=${file%%.*}
  case " libstdc++ libm libgcc_s libc $* " in
    *" $name "*) continue ;;
  esac
  case $name in
    ld-linux-* | libllama | libllama-common | libggml*) ;;
    *) complain "$library needs $file, which is not among: $*" ;;
  esac
done

[ "$errors" = 0 ] || exit 1
echo "$library exports $count symbols, all of public headers"
