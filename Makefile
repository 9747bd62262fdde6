# What a person does with Firebreak. `make demo` and `make test` need nothing done before them.

SHELL := /bin/bash
SOURCES := Sources Tests Documentation/Snippets Examples/Sources Examples/Package.swift Package.swift
BUILD_FLAGS := --build-tests --explicit-target-dependency-import-check error

RELEASE := -c release --scratch-path .build-release
EXAMPLES := --package-path Examples --scratch-path .build-examples

.PHONY: demo test test-arm64 bench docs examples build lint format prepare prepare-tests clean help

help:
	@echo "make demo     build, then walk from a beacon to a notice and from a PIN to a download"
	@echo "make test     check the form, build with every warning an error, run every test"
	@echo "make test-arm64  compile the matching kernels for arm64 and check them under qemu"
	@echo "make bench    build for release, measure matching and the servers, write the figures to out/bench"
	@echo "make examples  build the example app, a package of its own, and take three phones through both walks"
	@echo "make docs     the framework's reference as a web site in out/docs"
	@echo "make build    build only (debug, with tests)"
	@echo "make format   put the sources into the house's form"
	@echo "make clean    remove what was built"

# The main job: three phones, two servers, real cryptography, real HTTP on loopback.
demo: build
	.build/debug/firebreak demo

# All that CI does.
test: prepare-tests lint build
	@scripts/run-tests $(SWIFT_TEST_FLAGS)
	$(MAKE) test-arm64
	$(MAKE) examples

# The matching kernels compiled for arm64 and run under qemu: seconds. Installs what it needs by name.
test-arm64:
	@scripts/test-arm64

# Figures with date, processor and compiler, each beside its target. Some minutes after the build, which
# has a folder of its own: release and debug would build each other's libraries anew.
bench: prepare
	swift build $(RELEASE) --product firebreak
	swift build $(RELEASE) --product firebreak-benchmarks
	.build-release/release/firebreak-benchmarks --output out/bench \
	  --compiler "$$(swift --version 2>/dev/null | grep -oE 'Swift version [0-9.]+' | head -n 1)"

# An app as apps are written for Apple's framework. The walk ends with 1 where it goes another way.
examples: prepare
	swift build $(EXAMPLES)
	.build-examples/debug/ExampleApp walk

build: prepare
	swift build $(BUILD_FLAGS)

# A broken link or an unknown symbol on a page ends it.
docs: prepare
	mkdir -p out/docs
	swift package --allow-writing-to-directory out/docs generate-documentation \
	  --target ExposureNotification --warnings-as-errors --transform-for-static-hosting \
	  --output-path out/docs

lint: prepare
	swift format lint --strict --recursive --parallel $(SOURCES)

format:
	swift format --in-place --recursive --parallel $(SOURCES)

# Checks the compiler, installs missing system packages by name, fetches the Swift packages.
prepare:
	@scripts/prepare

# The tests run no program beyond what building needs; a server that tests need goes here.
prepare-tests: prepare

clean:
	rm -rf .build .build-examples .build-release out
