#!/usr/bin/env bash
# Runs a GoogleTest program under valgrind and says how it went; a step of scripts/check-full.sh.
#   scripts/under-valgrind.sh PROGRAM
set -uo pipefail
program=${1:?usage: under-valgrind.sh PROGRAM}
begin=$SECONDS
HYPER_TEST_PATIENCE=20 valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite \
  --errors-for-leak-kinds=definite \
  "$program" --gtest_brief=1
result=$?
echo "== ${program##*/} under valgrind: $([ $result = 0 ] && echo passed || echo "FAILED ($result)") in" \
  "$((SECONDS - begin)) s"
exit $result
