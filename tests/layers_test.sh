#!/usr/bin/env bash
# Includes point one way (docs/design.md): fails on an include of a part that the includer may not
# know, on a public header that includes more than the standard library, and on an outside header
# where it does not belong. Fails also where two headers define a type of one name: linked into one
# program, their inline members would be taken for each other without a word.
#   tests/layers_test.sh SOURCE_DIR
set -euo pipefail
cd "${1:?usage: layers_test.sh SOURCE_DIR}"

# Parts that a part may include, itself left out.
declare -A may_know=(
  [base]=""
  [core]="base"
  [answer]="base core"
  [extract]="base"
  [engine]="base core"
  [store]="base core"
  [decode]="base core answer"
  [report]="base core answer decode"
  [eval]="base core answer store decode report"
  [server]="base core store decode report eval"
  [capi]="base core answer engine decode report"
)
# The lowest part that a public header belongs to; those not listed are plain values and
# interfaces, which every part may know.
declare -A part_of_header=(
  [fake_engine]=engine [llama_engine]=engine [remote_engine]=engine [model_defaults]=engine
  [options]=decode [pool]=decode [method]=decode [session]=decode
  [driver]=decode [ask]=decode [hyper]=capi
)
# Outside headers, and the folders where they may be included.
outside_rules=(
  '<(llama|ggml|gguf|common|chat|log|sampling)[a-z-]*\.h> ^(src/engine/llama|tests/support|tests/goldens)/'
  '<nlohmann/ ^(src/(report|capi|engine|eval|server|store)|apps|tests)/|_test\.cc$'
  '<(flint/|arb|acb|ca|calcium|fmpz|fmpq|qqbar)[a-z_/]*\.h> ^src/answer/'
  '<sqlite3\.h> ^src/store/'
  '<curl/ ^src/base/'
  '<simdjson ^src/engine/remote/wire/'
  '<(hash/|utf8proc) ^src/(base|answer)/'
  '<(CLI/|httplib) ^(apps|src/server|src/engine/remote|tests)/'
)

errors=0
complain() {
  echo "$1" >&2
  errors=$((errors + 1))
}

# A test may use the scripted paths of decode and the tables in tests/support beside its own part.
check_include() {
  local file=$1 include=$2 part=$3 is_test=$4 target=""
  case $include in
    src/*) target=${include#src/} target=${target%%/*} ;;
    hyper/*) target=${include#hyper/} target=${part_of_header[${target%.h}]:-} ;;
    apps/*) complain "$file includes $include: the library knows nothing of the program"; return ;;
    tests/support/*)
      [ "$is_test" = yes ] || complain "$file includes $include, but is no test"
      return ;;
    *) return ;;
  esac
  if [ -z "$target" ] || [ "$target" = "$part" ]; then return; fi
  if [ "$is_test" = yes ] && [[ $target =~ ^(base|core|engine|decode|answer)$ ]]; then return; fi
  [[ " ${may_know[$part]-} " == *" $target "* ]] ||
    complain "$file includes $include: $part may not know $target"
}

while IFS=: read -r file include; do
  part=${file#src/} part=${part%%/*}
  [ -n "${may_know[$part]+known}" ] || complain "$file: part '$part' has no place in the layers"
  is_test=no
  [[ $file =~ (_test\.cc|_paths\.h|/testing/.*)$ ]] && is_test=yes
  check_include "$file" "$include" "$part" "$is_test"
done < <(grep -rE --include='*.cc' --include='*.h' '^#include "' src |
  sed -E 's/:#include "([^"]*)".*/:\1/')

while IFS=: read -r file include; do
  case $include in
    '"hyper/'*) ;;
    '<'*'.h>' | '"'*) complain "$file includes $include: public headers know only std and hyper/" ;;
    '<'*'/'*) complain "$file includes $include: public headers know only std and hyper/" ;;
  esac
done < <(grep -rE '^#include ' include/hyper | sed -E 's/:#include +/:/')

for rule in "${outside_rules[@]}"; do
  header=${rule% *} places=${rule#* }
  while IFS=: read -r file include; do
    [[ $file =~ $places ]] || complain "$file includes $include, which belongs to $places"
  done < <(grep -rE --include='*.cc' --include='*.h' "^#include $header" include src apps tests |
    sed -E 's/:#include +/:/' || true)
done

while read -r name; do
  complain "type $name is defined in two headers: $(grep -rlE --include='*.h' \
    "^(struct|class) $name( final)?( :| \{)" include src apps | xargs)"
done < <(grep -rhE --include='*.h' '^(struct|class) [A-Za-z]+( final)?( :| \{)' include src apps |
  awk '{ print $2 }' | sort | uniq -d)

[ "$errors" = 0 ] || { echo "$errors faults in the layers" >&2; exit 1; }
echo "the includes of $(find src -name '*.cc' -o -name '*.h' | wc -l) files point downwards"
