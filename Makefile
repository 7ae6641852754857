# make demo    from a bare machine to a movie        make test    from a bare machine to a verdict
BUILD  ?= build
DEMO   ?= scenes/beach.lua
VIEW   ?= scenes/balls.lua
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)

.PHONY: help build demo view test asan tsan install format clean setup setup-test

help:
	@echo 'make demo      build, run $(DEMO), leave a movie and stills in out/'
	@echo 'make view      build, and play with $(VIEW) in a window'
	@echo 'make test      build and run every test'
	@echo 'make build     $(BUILD)/undine and $(BUILD)/libundine.a'
	@echo 'make install   PREFIX=$(PREFIX): program, library, headers, scenes'
	@echo 'make format    lay out the sources with clang-format'
	@echo 'make asan      the unit tests and a scene under the address and undefined-behaviour sanitizers'
	@echo 'make tsan      the unit tests under the thread sanitizer; the program is $(BUILD)/tsan/undine'
	@echo 'make clean     remove $(BUILD)/; out/ stays'
	@echo 'Missing packages are installed first, by tools/setup.'

setup:
	@tools/setup

setup-test:
	@tools/setup test

build: setup
	@cmake --preset release -B $(BUILD) --log-level=WARNING
	@cmake --build $(BUILD) -j $(JOBS) --target undine_program libundine.a

demo: build
	$(BUILD)/undine run $(DEMO) --force
	@echo 'Look at:'
	@find out -name '*.mp4' | sort
	@find out -name '*.png' | sort

view: build
	$(BUILD)/undine view $(VIEW)

test: setup-test
	@BUILD=$(BUILD) JOBS=$(JOBS) tools/test

asan: setup
	@BUILD=$(BUILD) JOBS=$(JOBS) tools/test asan

tsan:
	@tools/setup tsan
	@BUILD=$(BUILD) JOBS=$(JOBS) tools/test tsan

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: setup-test
	@git ls-files -z '*.c' '*.cpp' '*.h' | xargs -0 clang-format-14 -i

clean:
	rm -rf $(BUILD)
