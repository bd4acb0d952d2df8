#!/usr/bin/env bash
# What a file of src/core may include and what it may not, by the compiler's word.
#   tests/borders_test.sh SOURCE_DIR COMPILER INCLUDE_FOLDER...      the folders of hyper_core
set -euo pipefail
source_dir=${1:?usage: borders_test.sh SOURCE_DIR COMPILER INCLUDE_FOLDER...}
compiler=${2:?usage: borders_test.sh SOURCE_DIR COMPILER INCLUDE_FOLDER...}
shift 2
folders=("${@/#/-I}")

preprocess() { "$compiler" -std=c++20 -E "${folders[@]}" -o /dev/null -x c++ - <<<"#include $1" 2>&1; }

takes() {
  preprocess "$1" || { echo "borders_test: src/core may not include $1" >&2; exit 1; }
}

# refuses HEADER REASON: the compiler's error has the words REASON.
refuses() {
  local said
  if said=$(preprocess "$1"); then
    echo "borders_test: src/core may include $1" >&2
    exit 1
  fi
  grep -qF "$2" <<<"$said" || { echo "borders_test: $1 is refused by: $said" >&2; exit 1; }
}

takes '"src/core/vote.h"'
takes '"src/base/utf8.h"'
takes '"hyper/engine.h"'
takes '<hwy/highway.h>'
takes '<fmt/format.h>'
for part in answer decode store eval server; do
  header=$(cd "$source_dir" && find "src/$part" -name '*.h' | sort | head -1)
  refuses "\"${header:?src/$part has no header}\"" 'No such file'
done
refuses '"hyper/session.h"' 'No such file'
refuses '<nlohmann/json.hpp>' 'No such file'
refuses '<curl/curl.h>' 'OUTSIDE curl'
refuses '<utf8proc.h>' 'OUTSIDE utf8proc'
refuses '<sqlite3.h>' 'OUTSIDE sqlite'
refuses '<coin/CbcModel.hpp>' 'OUTSIDE cbc'
echo "src/core sees what it links, and nothing else"
