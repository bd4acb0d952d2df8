#!/usr/bin/env bash
# Installs the build, moves the installed tree, and uses it as a stranger would: every header alone,
# the installed examples through find_package and through pkg-config, run with the bundled model and
# without LD_LIBRARY_PATH; nothing of the source or build tree may be used.
#   tests/install_test.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$(realpath "${1:?usage: install_test.sh SOURCE_DIR BUILD_DIR}")
build_dir=$(realpath "${2:?usage: install_test.sh SOURCE_DIR BUILD_DIR}")
work=$build_dir/install-test

fail() {
  echo "install_test: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build_dir" --prefix "$work/first" >"$work/install.log" ||
  fail "cmake --install failed: $(tail -5 "$work/install.log")"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
pc=$(find "$prefix" -name hyper.pc)
model=$(echo "$prefix"/share/hyper/models/tinymath-*-f16.gguf)
[ -f "$model" ] || fail "the bundled model was not installed"

# No path of this machine's trees may stay in what was installed.
for path in "$source_dir" "$build_dir" "$work/first"; do
  if grep -rlF "$path" "$prefix" --include='*.cmake' --include='*.pc' --include='*.h'; then
    fail "the files above hold the path $path"
  fi
done

export PKG_CONFIG_PATH=${pc%/*}
launcher=$(command -v ccache || true)
cxx() { $launcher g++ -std=c++20 -Wall -Wextra -Werror "$@"; }
read -ra cflags < <(pkg-config --cflags hyper)
read -ra libs < <(pkg-config --libs hyper)

for header in "$prefix"/include/hyper/*.h; do
  echo "#include <hyper/${header##*/}>"
done >"$work/headers.cc"
cxx "${cflags[@]}" -fsyntax-only "$work/headers.cc" || fail "the headers do not compile together"
echo '#include <hyper/hyper.h>' >"$work/header.c"
gcc -std=c99 -pedantic -Wall -Werror "${cflags[@]}" -fsyntax-only "$work/header.c" ||
  fail "hyper.h is not C99"

# The documents are there, and their links to each other and to the examples hold.
doc=$(find "$prefix" -path '*/doc/*' -name docs -type d)
doc=${doc%/docs}
[ -f "$doc/docs/building.md" ] || fail "docs/ was not installed"
while IFS=: read -r page link; do
  [ -e "$(dirname "$page")/$link" ] || fail "$page links to $link, which was not installed"
done < <(grep -oHE '\]\((\.\./examples/)?[a-z0-9-]+\.[a-z.]+' "$doc"/docs/*.md | sed 's/](//')

# run PROGRAM ARGUMENTS...: with a bare environment; output in $work/out, loaded libraries in $work/ld.
run() {
  env -i PATH="$PATH" LD_DEBUG=files LD_DEBUG_OUTPUT="$work/ld" "$@" >"$work/out" 2>"$work/err" ||
    fail "$* ended with $?: $(cat "$work/err")"
  cat "$work"/ld.* >"$work/libraries"
  rm "$work"/ld.*
}

# expect PATTERN: a line of the last output matches.
expect() {
  grep -qE -- "$1" "$work/out" || fail "no line matches '$1' in: $(cat "$work/out")"
}

# Every llama.cpp library and backend came from the installed tree.
expect_own_libraries() {
  grep -q "calling init: $prefix/.*/libggml-cpu" "$work/libraries" ||
    fail "no CPU backend of the installed tree was loaded"
  if grep -E 'calling init: .*/lib(hyper|llama|ggml)' "$work/libraries" | grep -vF "$prefix/"; then
    fail "the libraries above are not the installed ones"
  fi
}

cmake -S "$doc/examples" -B "$work/examples" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" >"$work/configure.log" 2>&1 ||
  fail "find_package failed: $(cat "$work/configure.log")"
cmake --build "$work/examples" >"$work/build.log" 2>&1 || fail "$(cat "$work/build.log")"

question="Start with 25, add 13, add 40. What is the result?"
run "$work/examples/ask" "$model" "$question"
expect '^78$'
expect '^  majority +78$'
expect_own_libraries
run "$work/examples/own_method" "$model" "$question"
expect '^78 after [0-9]+ paths$'
run "$work/examples/own_reward" "$model" "$question"
expect '^1\.00 78$'
expect '^78$'
[ "$(wc -l <"$work/out")" = 17 ] || fail "own_reward shows $(wc -l <"$work/out") lines, want 17"
run "$work/examples/ask_c" "$model" "$question"
expect '^\{"answer":"78",'
if "$work/examples/ask" "$work/none.gguf" "$question" 2>"$work/err"; then
  fail "ask took a model that does not exist"
fi
grep -qF "$work/none.gguf" "$work/err" || fail "the error names no file: $(cat "$work/err")"

cxx "${cflags[@]}" "$doc/examples/ask.cc" -o "$work/ask_pc" "${libs[@]}" ||
  fail "ask.cc does not build with pkg-config"
run "$work/ask_pc" "$model" "$question"
expect '^78$'
expect_own_libraries

# The remote engine is a library of its own; nothing else needs curl.
cxx "${cflags[@]}" "$doc/examples/ask_server.cc" -o "$work/ask_server_pc" \
  $(pkg-config --libs hyper_remote) ||
  fail "ask_server.cc does not build with pkg-config"
for program in "$work/examples/ask_server" "$work/ask_server_pc"; do
  if env -i "$program" http://127.0.0.1:9/v1 "$question" 2>"$work/err"; then
    fail "$program asked a server that does not exist"
  fi
  grep -qF 127.0.0.1:9 "$work/err" || fail "the error names no server: $(cat "$work/err")"
done

if [ -x "$prefix/bin/hyper" ]; then
  run "$prefix/bin/hyper" run --json --seed 7 "$question"
  expect '"answer": ?"78"'
  expect_own_libraries
  run "$prefix/bin/hyper" run --json --method ets --width 4 --seed 7 "$question"
  expect '"answer": ?"78"'
  grep -q "calling init: $prefix/.*/libhyper_cbc.so" "$work/libraries" || fail "ETS ran without its solver"
  # A plugin's method is known to every command, and does as the built-in one of its kind does. That one
  # also says why it ended.
  plugin=(--plugin "$work/examples/libown_plugin.so")
  run "$prefix/bin/hyper" "${plugin[@]}" help methods
  expect '^  my-esc +windows of paths'
  esc=(run --json --preset short --width 12 --esc-window 3 --seed 7 --no-log "$question")
  run "$prefix/bin/hyper" "${esc[@]}" --method esc
  sed 's/"method": "esc"/"method": "my-esc"/; /"warnings": \[/,$d' "$work/out" >"$work/built-in"
  run "$prefix/bin/hyper" "${esc[@]}" --method my-esc "${plugin[@]}"
  sed '/"warnings": \[/,$d' "$work/out" | cmp - "$work/built-in" || fail "the method of the plugin differs from the built-in one"
  if "$prefix/bin/hyper" run --plugin "$prefix/lib/libhyper.so" "$question" 2>"$work/err"; then
    fail "a library that is no plugin was taken"
  fi
  grep -q 'is no plugin' "$work/err" || fail "the error says: $(cat "$work/err")"
  # Its suite, its grader and its table. The golds are wrong by the rules, and near enough for the grader.
  evaluation=(--plugin "$work/examples/libown_evaluation.so")
  estimates=(eval --suite estimates --methods sc --width 4 --align off --threads 1 --seed 7
    --study "$work/estimates.db" --format csv)
  run "$prefix/bin/hyper" "${estimates[@]}" "${evaluation[@]}" --table results,spending
  expect '^sc,estimates,6,1,100,'
  expect '^sc,[0-9.]+,$'
  run "$prefix/bin/hyper" data list "${evaluation[@]}"
  expect '^estimates +Sums to the nearest ten \(plugin\)$'
  if "$prefix/bin/hyper" "${estimates[@]}" --table votes 2>"$work/err"; then
    fail "answers of a suite that is not there were graded"
  fi
  grep -q "no suite 'estimates'" "$work/err" || fail "the error says: $(cat "$work/err")"
  run "$prefix/bin/hyper" grade "$work/estimates.db"
  expect '^6 answers graded, 3 verdicts changed$'
  # The backend compiled on this machine is used here, and left alone on any other processor.
  native=$(dirname "$(find "$prefix" -name 'libggml-base.so')")/native
  if [ -e "$native/libggml-cpu.so" ]; then
    bench=("$prefix/bin/hyper" bench --width 2 --tokens 4 --runs 1 --json)
    run "${bench[@]}"
    expect '"cpu_backend": "native"'
    echo another processor >"$native/processor"
    run "${bench[@]}"
    expect '"cpu_backend": "[a-z0-9]+"'
    if grep -q '"native"' "$work/out" || grep -q "$native/" "$work/libraries"; then
      fail "a backend compiled for another processor was loaded"
    fi
  fi
fi
echo "the installed tree works ($(du -sh "$prefix" | cut -f1))"
