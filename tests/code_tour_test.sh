#!/usr/bin/env bash
# Every place that docs/code-tour.md names holds what it names: [`NAME`](../FILE#LLINE) (`FILE:LINE`).
#   code_tour_test.sh SOURCE_DIR           checks the page
#   code_tour_test.sh SOURCE_DIR --write   moves each line number to the nearest line with the name
set -euo pipefail
cd "${1:?usage: code_tour_test.sh SOURCE_DIR [--write]}"
page=docs/code-tour.md
places=0
wrong=0

# nearest NAME FILE LINE: the line of FILE with NAME that is nearest to LINE; nothing where none is.
nearest() {
  { grep -nF -- "$1" "$2" || true; } | awk -F: -v line="$3" '
    { far = $1 > line ? $1 - line : line - $1 }
    NR == 1 || far < least { least = far; best = $1 }
    END { print best }'
}

while IFS='|' read -r name file line; do
  places=$((places + 1))
  found=$(nearest "$name" "$file" "$line")
  if [ "$found" = "$line" ]; then continue; fi
  if [ "${2:-}" = --write ] && [ -n "$found" ]; then
    sed -i "s|\[\`$name\`\](../$file#L$line) (\`$file:$line\`)|[\`$name\`](../$file#L$found) (\`$file:$found\`)|" "$page"
    continue
  fi
  echo "$page: $file:$line does not name $name; the nearest line that does is ${found:-none}"
  wrong=1
done < <(grep -oE '\[`[^`]+`\]\(\.\./[^#)]+#L[0-9]+\)' "$page" |
  sed -E 's/\[`([^`]+)`\]\(\.\.\/([^#]+)#L([0-9]+)\)/\1|\2|\3/')
[ "$places" -ge 20 ] || { echo "$page names $places places only"; wrong=1; }
echo "$page: $places places"
exit "$wrong"
