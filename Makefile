# SPDX-License-Identifier: Apache-2.0
# The entry points of the project. `make demo` and `make test` prepare the machine themselves.

SHELL := /bin/bash
SOURCES := Sources Plugins Tests Benchmarks Documentation/Snippets Examples/Sources Package.swift scripts
# C is optimized in debug builds as well: password hashes and the portable kernels took a fifth of the processor time of
# some tests. Swift code has debug information for the lines of a stack and not for variables, which would take an
# eighth of the compiler's time. The index would take another eighth; Tests/XCTMain.swift replaces what needs it. LLVM's
# linker, which every toolchain of Swift has, needs half the time of the system's.
BUILD_FLAGS := --explicit-target-dependency-import-check error --disable-index-store -Xcc -O2 -Xcxx -O2 \
  -Xswiftc -gline-tables-only -Xswiftc -use-ld=lld

# The place of `make install`. DESTDIR is a folder before it, for packages.
PREFIX ?= /usr/local
# An earlier build, from the command line or the environment, which is not built again.
PROGRAM ?=

.PHONY: install uninstall package archive static release reproduce demo up check test prove test-arm64 bench docs examples walk-examples facts build product lint format \
  build-and-downloads linted-build emulated-kernels bare-debian prepare prepare-tests test-packages proof-packages python-packages screenshots console-pictures accessibility-trees clean help

help:
	@echo "make demo        build, then run the whole system once: from a beacon to a notice, from a PIN to a download"
	@echo "make up          build, then run servers, phones and a town page until Ctrl-C"
	@echo "make check       check the format, build, run the tests that need no other process (TARGET=KeyServer: of one target)"
	@echo "make test        check the format, build with warnings as errors, run every test and the example app"
	@echo "make prove       what make test samples, completely: kills of a phone, response times, every screen (many minutes)"
	@echo "make test-arm64  compile the matching kernels for arm64 and check them under qemu"
	@echo "make bench       build for release, measure matching, the servers and the web app, write the figures to out/bench"
	@echo "make screenshots write a picture of every screen of the web app and page of the console and of a class to out/screens"
	@echo "make console-pictures make the pictures of the console in Documentation/images again"
	@echo "make examples    build and run the example app"
	@echo "make docs        write the reference of the library products as a web site to out/docs"
	@echo "make facts       print the sizes of the files, types and functions of the production code"
	@echo "make install     build for release, then install program, manual page and completions (PREFIX=/usr/local, DESTDIR=)"
	@echo "make package     build for release, then write a Debian package with its checksum to out/package (SIGN=release.key)"
	@echo "make archive     build for release with the runtime of Swift inside, then write an archive to out/archive (SIGN=release.key)"
	@echo "make reproduce   build the last commit for release twice, in different folders, and compare the programs (PROGRAM= is the first)"
	@echo "make uninstall   remove what make install has installed"
	@echo "make build       build only (debug, with tests)"
	@echo "make format      format the sources"
	@echo "make clean       remove build products"

# Three phones, two servers, real cryptography, real HTTP on loopback. Builds the program and no tests.
demo: product
	.build/debug/firebreak demo

# The same parts as processes, until Ctrl-C. The data stays in firebreak-town.
up: product
	.build/debug/firebreak up --open

# While working: the format, the build, and the tests that need no other process, browser or Bluetooth controller.
# TARGET=KeyServer does so for one target and its tests.
check: prepare
	@scripts/check $(TARGET)

# Everything that CI runs. Continues from the build of `make demo`.
test: build-and-downloads walk-examples
	@scripts/run-tests

# What comes from the network is installed while the processors check the format and compile. One after another uses
# apt-get, which locks its lists.
build-and-downloads: prepare
	@$(MAKE) --no-print-directory -j4 linted-build bare-debian python-packages emulated-kernels

linted-build: lint
	@$(MAKE) --no-print-directory build

emulated-kernels: test-packages
	@$(MAKE) --no-print-directory test-arm64

bare-debian python-packages: test-packages

# One minute more than a test of a proof may take, in seconds.
PROOF_STALL := 3660

# The same tests with ten times as many kills, with floods and guesses, with the times of responses, with observers of
# padding, with every screen in every language, color scheme and width, with a full class, with LibreOffice, Caddy and
# object stores of others. One of them takes many minutes.
prove: export FIREBREAK_PROVE := 1
prove: export FIREBREAK_PROVE_ROUNDS := 500
prove: export FIREBREAK_PROVE_SAMPLES := 3000
prove: prepare-tests proof-packages build
	scripts/run-tests --stall $(PROOF_STALL) --filter "KilledPhoneTests"
	scripts/run-tests --stall $(PROOF_STALL) --filter "SignInFloodTests|GuessingTests|CodeLengthTests|FailureBudgetTests|AttemptsTests"
	scripts/run-tests --stall $(PROOF_STALL) --filter "FairnessTests|UnfinishedBodiesTests|FloodedServerTests"
	scripts/run-tests --stall $(PROOF_STALL) --filter "ProvenUploadTimesTests|ProvenCodeTimesTests|PaddingObserverTests"
	scripts/run-tests --stall $(PROOF_STALL) --filter "(ScreenTests|ConsolePageTests|ClassScreenTests|TourTests)/accessible|ClassPageTests"
	scripts/run-tests --stall $(PROOF_STALL) --filter "LibreOfficeTests"
	scripts/run-tests --stall $(PROOF_STALL) --filter "CaddyTests|MotoTests|ServedMotoTests|OpenStackStoreTests|ServedOpenStackTests"

# Every screen of the web app and every page of the console, on a phone, on a desktop and in the dark.
screenshots: prepare-tests build
	FIREBREAK_SCREENSHOTS=$(CURDIR)/out/screens scripts/run-tests --filter "ScreenTests/pictures|ConsolePageTests/pictures|ClassScreenTests/pictures|ReportInBrowserTests/report"

# Makes the pictures of the console in the documentation again, from the pages as they are.
console-pictures: screenshots
	for page in issued funnel approval batch issued-codes home-waiting configuration preview; do \
	  cp out/screens/console-$$page-window.png Documentation/images/console-$$page.png || exit 1; done
	cp out/screens/report-form-en-window.png Documentation/images/report.png

# Writes the accessibility trees with which the tests compare the screens and pages.
accessibility-trees: prepare-tests build
	FIREBREAK_PROVE=1 FIREBREAK_UPDATE_TREES=1 scripts/run-tests --stall $(PROOF_STALL) --filter "ScreenTests/accessible|ConsolePageTests/accessible|ClassScreenTests/accessible"

test-arm64:
	@scripts/test-arm64

# Each figure with its target, date, processor and compiler. Takes some minutes after the build, which has a
# folder of its own: debug and release would rebuild each other's dependencies.
bench: prepare
	@scripts/prepare chromium-headless-shell chromium-driver
	scripts/build-release firebreak
	scripts/build-release firebreak-benchmarks
	.build-release/release/firebreak-benchmarks --output out/bench \
	  --compiler "$$(swift --version 2>/dev/null | grep -oE 'Swift version [0-9.]+' | head -n 1)"

release: prepare
	scripts/build-release firebreak

# Two release builds of the last commit in different folders, which must be equal after stripping. Takes twice as long
# as a release build from nothing. PROGRAM is an earlier build of the commit, and is the first of the two.
reproduce: prepare
	@scripts/prepare binutils
	@scripts/reproduce $(if $(PROGRAM),"$(PROGRAM)")

install: $(if $(PROGRAM),,release)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install "$(or $(PROGRAM),.build-release/release/firebreak)"

uninstall:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install --remove

# A Debian package in out/package, with its checksum, which SIGN=release.key signs.
package: $(if $(PROGRAM),,release)
	@scripts/prepare dpkg-dev binutils python3
	@rm -rf out/package
	@scripts/package "$(or $(PROGRAM),.build-release/release/firebreak)" out/package
	@scripts/checksums out/package $(if $(SIGN),"$(SIGN)")

# The program with the runtime of Swift inside.
static: prepare
	scripts/build-release --static firebreak

# A release archive in out/archive, with its SBOM and checksum, which SIGN=release.key signs.
archive: $(if $(PROGRAM),,static)
	@scripts/prepare binutils xz-utils python3
	@rm -rf out/archive
	@scripts/archive "$(or $(PROGRAM),.build-static/release/firebreak)" out/archive
	@scripts/checksums out/archive $(if $(SIGN),"$(SIGN)")

# An app written for Apple's framework. Exits with 1 if its walk does not end as expected.
examples: product
	swift build $(BUILD_FLAGS) --product ExampleApp
	@$(MAKE) --no-print-directory walk-examples

walk-examples:
	.build/debug/ExampleApp walk
	.build/debug/ExampleApp walk --firebreak .build/debug/firebreak

product: prepare
	swift build $(BUILD_FLAGS) --product firebreak

build: prepare
	swift build $(BUILD_FLAGS) --build-tests --disable-xctest

# The catalogs of all library products in one web site. Fails on a broken link or an unknown symbol.
docs: prepare
	mkdir -p out/docs
	FIREBREAK_DOCS=1 swift package $(BUILD_FLAGS) --allow-writing-to-directory out/docs generate-documentation \
	  $(addprefix --target ,$(notdir $(basename $(wildcard Sources/*/*.docc)))) \
	  --enable-experimental-combined-documentation --warnings-as-errors --transform-for-static-hosting \
	  --output-path out/docs

facts: prepare
	@scripts/facts

lint: prepare
	swift format lint --strict --recursive --parallel $(SOURCES)

format:
	swift format --in-place --recursive --parallel $(SOURCES)

# Checks the compiler, installs missing system packages by name, fetches the Swift packages.
prepare:
	@scripts/prepare

# What only the tests need: two virtual Bluetooth controllers and the Python that runs them, a message bus, systemd to
# check the unit files, promtool of prometheus to check metrics and alerts, a PostgreSQL server, a token in software,
# nginx, HAProxy, a browser, and axe to check pages for accessibility.
prepare-tests: test-packages
	@scripts/prepare-tests

test-packages:
	@scripts/prepare python3 python3-pip dbus-daemon systemd postgresql prometheus debootstrap dpkg-dev chromium-headless-shell chromium-driver nginx-light haproxy openssl curl softhsm2 opensc

# What only `make prove` needs, before its hours begin.
proof-packages: test-packages
	@scripts/prepare libreoffice-calc-nogui caddy python3-swift
	@scripts/prepare-tests --proof

python-packages:
	@scripts/prepare-tests

# What the test of the Debian package installs it in.
bare-debian:
	@scripts/prepare-bare-debian

clean:
	rm -rf .build .build-release .build-static out
