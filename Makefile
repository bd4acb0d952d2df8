# Thin front end of CMake. On a bare Debian 12 as root, `make demo` and `make test` install what is
# missing, build and run; both take seconds when nothing has changed. See docs/building.md.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CMAKE_FLAGS ?=
# ON compiles files in bundles: a cold build takes two thirds of the time. OFF is for editing them.
UNITY ?= ON
CONFIGURE = cmake --preset release -B $(BUILD) -DHYPER_UNITY=$(UNITY) $(CMAKE_FLAGS)
QUESTION ?= Start with 13. Do this 9 times: multiply by 3, add 27, and keep the remainder when divided \
            by 41. What is the result?
.PHONY: all deps build demo models test install dist check check-full goldens soak format clean

all: build

deps:
	@scripts/install-deps.sh

build: deps
	@$(CONFIGURE) >/dev/null
	@cmake --build $(BUILD)

# The complete algorithm on the bundled model, with the pool shown live.
demo: deps
	@$(CONFIGURE) >/dev/null
	@cmake --build $(BUILD) --target hyper_cli
	@$(BUILD)/hyper run --preset short --live always "$(QUESTION)"

# Two small models, into models/downloaded: SmolLM2-135M-Instruct (98 MB), which can judge, and
# Gemma-3-270M (253 MB), a base model without a chat template, under Google's Gemma terms.
models:
	@scripts/fetch-models.sh

test: build
	@scripts/run-tests.sh $(BUILD)

install: build
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

# The installed tree with all its libraries, for other machines: build/dist/hyper-*.tar.gz.
dist: build
	@scripts/make-dist.sh $(BUILD)

# What every change must pass; and the heavier checks, with their log in docs/log/.
check:
	@.ci/run
check-full:
	@scripts/check-full.sh

# Random sessions, widths, methods and cancellations under AddressSanitizer, for MINUTES minutes.
MINUTES ?= 20
soak: deps
	@cmake --preset asan >/dev/null
	@cmake --build build-asan --target hyper_soak
	@ASAN_OPTIONS=quarantine_size_mb=16 build-asan/hyper_soak $(MINUTES)

# Recomputes the committed values that tests compare with (needs Python 3 with venv, and network).
GOLDENS_PYTHON = $(BUILD)/goldens-venv/bin/python
goldens:
	@test -x $(GOLDENS_PYTHON) || python3 -m venv $(BUILD)/goldens-venv
	@$(GOLDENS_PYTHON) -m pip install -q -r tests/goldens/requirements.txt
	@$(GOLDENS_PYTHON) tests/goldens/core_goldens.py
	@$(GOLDENS_PYTHON) tests/goldens/single_token_goldens.py \
	  models/tinymath/tinymath-moe-6m-f16.gguf tests/goldens/single_token.bin
	@scripts/fetch-llama.sh .deps/llama none
	@LLAMA_SOURCE=.deps/llama/src $(GOLDENS_PYTHON) tests/goldens/arch_goldens.py tests/goldens/arch

format:
	@git ls-files '*.cc' '*.h' '*.c' | xargs clang-format-14 -i

clean:
	rm -rf build build-*
