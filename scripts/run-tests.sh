#!/usr/bin/env bash
# Runs the tests of a built tree, unless they passed there before and nothing has changed since:
# neither a file of the repository nor a built program.
#   scripts/run-tests.sh BUILD      `ctest --test-dir BUILD` runs them whatever the state
set -euo pipefail
build=${1:?usage: run-tests.sh BUILD}
build=$(cd "$build" && pwd)
cd "$(dirname "$0")/.."
passed=$build/tests-passed

# Contents of the files that git knows or would add, times and sizes of what was built out of them.
fingerprint() {
  {
    git ls-files -z --cached --others --exclude-standard | sort -z |
      while IFS= read -r -d '' file; do if [ -f "$file" ]; then printf '%s\0' "$file"; fi; done |
      xargs -0 sha256sum
    find "$build" -maxdepth 1 -type f \( -perm -u+x -o -name '*.so*' \) \
      -printf '%f %s %T@\n' | sort
  } | sha256sum
}

if git rev-parse --git-dir >/dev/null 2>&1; then
  now=$(fingerprint)
else
  now=unknown # an unpacked archive: nothing tells what has changed
fi
if [ "$now" != unknown ] && [ "$(cat "$passed" 2>/dev/null)" = "$now" ]; then
  echo "all tests passed here on $(date -r "$passed" '+%Y-%m-%d at %H:%M'), and nothing has changed" \
    "since; ctest --test-dir ${build#"$PWD/"} runs them again"
  exit 0
fi
rm -f "$passed"
ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure --no-tests=error
[ "$now" = unknown ] || echo "$now" >"$passed"
