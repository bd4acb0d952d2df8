#!/usr/bin/env bash
# Every x_test.cc and x_test.sh of the tree is registered in the CMake file of its own folder: a
# test that nobody builds would pass for ever.
#   tests/registered_test.sh SOURCE_DIR
set -euo pipefail
cd "${1:?usage: registered_test.sh SOURCE_DIR}"

errors=0
count=0
while read -r test; do
  count=$((count + 1))
  folder=$(dirname "$test")
  # A folder may keep its list in the one above.
  if ! grep -qwF "$(basename "$test")" "$folder"/CMakeLists.txt "$folder"/*.cmake \
    "$folder"/../CMakeLists.txt 2>/dev/null; then
    echo "$test is in no CMakeLists.txt: it is never run" >&2
    errors=$((errors + 1))
  fi
done < <(find src apps tests -name '*_test.cc' -o -name '*_test.sh' | sort)

[ "$count" -gt 0 ] || { echo "no test was found below $PWD" >&2; exit 1; }
[ "$errors" = 0 ] || exit 1
echo "all $count test files are registered"
