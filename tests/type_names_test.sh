#!/usr/bin/env bash
# No two types bear one name: classes, structs, enums and aliases at namespace level, those of
# anonymous namespaces left out, which nobody else sees.
#   type_names_test.sh SOURCE_DIR
set -euo pipefail
cd "$1"
names=$(find include src apps -name '*.h' -o -name '*.cc' | grep -v '_test\.cc$' | sort |
  xargs awk '
    FNR == 1 { hidden = 0 }
    /^namespace \{/ { hidden = 1 }
    /^\}  \/\/ namespace$/ { hidden = 0 }
    !hidden && match($0, /^(class|struct|enum class|enum|using) +(\[\[[a-z]+\]\] +)?[A-Za-z0-9_]+( final)?( :[^:]| \{| =)/) {
      name = $0
      sub(/^(class|struct|enum class|enum|using) +(\[\[[a-z]+\]\] +)?/, "", name)
      sub(/[^A-Za-z0-9_].*/, "", name)
      print name, FILENAME ":" FNR
    }')
[ "$(wc -l <<<"$names")" -gt 300 ] || { echo "too few types found: is the check blind?"; exit 1; }
twice=$(cut -d' ' -f1 <<<"$names" | sort | uniq -d)
for name in $twice; do
  echo "two types are named $name; rename one:"
  grep "^$name " <<<"$names"
done
[ -z "$twice" ]
