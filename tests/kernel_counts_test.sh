#!/usr/bin/env bash
# Counts the instructions of the CPU kernels under callgrind, and compares them with the bounds in
# kernel_counts.txt. Callgrind knows no AVX-512, so the backend for AVX2 is counted.
#   tests/kernel_counts_test.sh PROGRAM LIBRARY BOUNDS COMPILER VERSION
#   HYPER_WRITE=1: writes BOUNDS anew, a tenth above what is counted
set -euo pipefail
program=$1 library=$2 bounds=$3
if ! command -v valgrind > /dev/null; then
  echo "skipped: valgrind is not installed"
  exit 77
fi
if [ "$4 ${5%%.*}" != "GNU 12" ]; then
  echo "skipped: the bounds are for GCC 12, and this is $4 $5"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
valgrind --tool=callgrind --callgrind-out-file="$folder/out" \
  --toggle-collect='*ForwardBatchRows*' --toggle-collect='*ForwardPoolAttention*' \
  --zero-before=Counted --dump-after=Counted "$program" "$library" > "$folder/names" \
  2> "$folder/log" || { cat "$folder/log"; exit 1; }
number=0
result=0
while read -r name; do
  number=$((number + 1))
  counted=$(sed -n 's/^totals: //p' "$folder/out.$number")
  [ "${counted:-0}" -gt 0 ] || { echo "$name: callgrind counted nothing"; exit 1; }
  echo "$name $counted" >> "$folder/counted"
  [ "${HYPER_WRITE:-}" = 1 ] && continue
  bound=$(sed -n "s/^$name //p" "$bounds")
  if [ -z "$bound" ] || [ "$counted" -gt "$bound" ]; then
    echo "$name: $counted instructions, and ${bounds##*/} allows ${bound:-none}"
    result=1
  fi
done < "$folder/names"
[ "$number" -gt 0 ] || { echo "no kernel was called"; exit 1; }
if [ "${HYPER_WRITE:-}" = 1 ]; then
  { sed -n '/^#/p' "$bounds"; awk '{printf "%s %d\n", $1, $2 * 1.1}' "$folder/counted"; } > "$folder/new"
  cp "$folder/new" "$bounds"
fi
cat "$folder/counted"
exit $result
