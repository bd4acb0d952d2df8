# Thin front of CMake: `make demo` and `make test` install what is missing, build and run.
BUILD ?= build
.PHONY: all deps build test demo clean format

all: build

deps:
	@scripts/install-deps.sh

build: deps
	@cmake --preset release -B $(BUILD) >/dev/null && cmake --build $(BUILD)

test: build
	@ctest --test-dir $(BUILD) --output-on-failure

format:
	@git ls-files '*.cc' '*.h' | xargs clang-format-14 -i

clean:
	rm -rf build build-*
