# The commands of violet. Each is a thin call of a CMake preset (CMakePresets.json) or of a script in tools/, so nothing
# here is needed to build violet by hand. Lines with `##` are what `make help` prints.

JOBS ?= $(shell nproc)
SECONDS ?= 60
FUZZ ?= fuzz
MINUTES ?= 10
N ?= 1000000
KIND ?= h1
PREFIX ?= /usr/local
ARGS ?=
H2SPEC ?=

# $(call build,PRESET[,TARGET]): configures build/PRESET and builds it.
build = { [ build/$(1)/build.ninja -nt CMakePresets.json ] || cmake --preset $(1); } && \
  cmake --build --preset $(1) -j $(JOBS) $(if $(2),--target $(2))
# $(call check,PRESET): the same, then runs its tests. ctest comes last: its closing lines are the verdict.
check = $(call build,$(1)) && ctest --preset $(1)

.PHONY: help setup run arena release debug test asan tsan gcc coverage lint format bench budgets peers lab-connections lab-soak lab-chaos conformance fuzz guard install clean

help: ## this table
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## installs what is missing to build and test (apt; root or sudo)
	@tools/setup.sh

run: setup ## builds release and starts the showcase on http://127.0.0.1:8080 and https://127.0.0.1:8443
	@$(call build,release)
	@tools/run.sh build/release/showcase $(ARGS)

arena: setup ## builds release and starts the benchmark entry; ARGS="--loops 1"
	@$(call build,release)
	@tools/run.sh build/release/arena $(ARGS)

release: setup ## builds build/release and runs nothing
	@$(call build,release)

debug: setup ## builds build/debug: -O0, assertions on
	@$(call build,debug)

test: setup ## builds and runs every test
	@$(call check,test)

asan: setup ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(call check,asan)

tsan: setup ## the tests under ThreadSanitizer
	@$(call check,tsan)

gcc: setup ## the tests built by g++
	@$(call check,gcc)

coverage: setup ## which lines the tests run; fails where those of a folder's parsers and sessions are less than 95 %
	@$(call build,coverage)
	@rm -rf build/coverage/profiles
	@ctest --preset coverage
	@tools/coverage.py build/coverage $(ARGS)

lint: setup ## clang-format, the shape of the tree, clang-tidy
	@$(call build,test)
	@tools/lint.sh build/test

format: setup ## writes the format that lint wants
	@tools/lint.sh --fix

bench: setup ## builds and runs the benchmarks
	@tools/setup.sh bench
	@$(call build,bench)
	@tools/bench.sh build/bench $(ARGS)

budgets: setup ## what a request of each shape costs, held against bench/budgets.toml; ARGS=--write
	@$(call build,bench,budgets)
	@bench/budgets.py --build build/bench $(ARGS)

peers: setup ## installs other servers, measures violet beside them, draws; ARGS=--quick
	@tools/setup.sh bench peers
	@if command -v npm >/dev/null && ! command -v bun >/dev/null; then \
	  npm install --silent --no-save --no-audit --no-fund --prefix build/peers bun || echo "notice: no bun from npm"; fi
	@$(call build,bench)
	@tools/peers.py run --build build/bench --out build/peers $(ARGS)

lab-connections: setup ## holds N=1000000 idle connections, KIND=h1|tls|h2|ws, and weighs them
	@$(call build,bench,app_arena hold_load)
	@bench/connections.py --build build/bench -n $(N) --kind $(KIND) $(ARGS)

lab-soak: setup ## everything at once on the benchmark entry for MINUTES=10, and what it leaves behind
	@tools/setup.sh bench
	@$(call build,bench)
	@bench/soak.py --build build/bench --minutes $(MINUTES) $(ARGS)

lab-chaos: setup ## the entry killed, stopped, without memory, descriptors or disk, in a bad network; ARGS="--scale 10"
	@$(call build,bench)
	@bench/chaos.py --build build/bench $(ARGS)

conformance: setup ## hostile frames and real clients against the entry's HTTP/2; H2SPEC=path adds h2spec
	@$(call build,test,app_arena)
	@tests/conformance/http2/run.py build/test/arena
	@if [ -n "$(H2SPEC)" ]; then tests/conformance/http2/run.py build/test/arena --h2spec "$(H2SPEC)"; \
	else echo "conformance: h2spec was NOT run; H2SPEC=path says where it is"; fi

fuzz: setup ## a row for each fuzz target, SECONDS=60 of each; FUZZ=fuzz-pools with warm pools instead of ASan
	@$(call build,$(FUZZ))
	@tools/fuzz.py build/$(FUZZ) --seconds $(SECONDS) $(ARGS)

guard: setup ## the tests on a heap of pages that are gone when they are freed, at the speed of optimised code
	@$(call check,guard)

install: setup ## installs the library to PREFIX=/usr/local
	@$(call build,package)
	@cmake --install build/package --prefix "$(PREFIX)"

clean: ## removes build/
	@rm -rf build
