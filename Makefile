# Needs Go, git and make. A C compiler is used for the race detector if it is
# there. `make help` lists what can be made.

GO        ?= go
TOOL      := $(GO) tool -modfile=tools/go.mod
NO_VCS    := -buildvcs=false
FUZZTIME  ?= 10s
BENCHTIME ?= 1s

# The race detector needs cgo and a C compiler; without them the tests run
# without it, and say so.
CAN_RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC | cut -d' ' -f1)" >/dev/null 2>&1 && echo yes)
RACE     := $(if $(CAN_RACE),-race)

# The top module is what users build and import. What only developers run are modules of
# their own, so that their requirements are not those of the top module. test/bench and
# test/kafka have targets of their own.
MODULES := internal/dashboards examples/quickstart/demo test/distribution test/e2e

# What the distribution is built from, besides its modules.
SOURCES := $(shell find internal processor -name '*.go' -not -name '*_test.go' -not -path '*/testkit/*')

.DEFAULT_GOAL := build
.PHONY: help build dist dist-lock generate check-generated test lint fuzz soak bench bench-docs pgo bench-go test-bench demo clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1 \2/p' Makefile | while read -r name what; do printf '  %-16s %s\n' "$$name" "$$what"; done

build: ## compile everything; the command line goes to dist/resultseal
	$(GO) build $(NO_VCS) ./...
	$(GO) build $(NO_VCS) -trimpath -o dist/resultseal ./cmd/resultseal

dist: dist/otelcol-resultseal ## the collector with the processor: dist/otelcol-resultseal

# The modules of the distribution are pinned in distribution/builder-config.mod and .sum.
# To find them anew takes a while and twice the downloads, since the builder
# then also wants what tests of other modules need. With -mod=mod, what go.mod
# has gained since they were pinned is added.
# The linker strips DWARF, so it is not made in the first place. What the compiler
# knows of where the collector spends its time is in distribution/builder-config.pgo: it saves about
# a tenth of the processor time.
dist/otelcol-resultseal: builder-config.yaml distribution/builder-config.mod distribution/builder-config.sum distribution/builder-config.pgo go.mod go.sum dist/bin/builder $(SOURCES)
	cp distribution/builder-config.mod dist/go.mod
	cp distribution/builder-config.sum dist/go.sum
	GOFLAGS='-mod=mod $(NO_VCS) -pgo=../distribution/builder-config.pgo' dist/bin/builder --config builder-config.yaml --skip-get-modules --gcflags all=-dwarf=false
	@cmp -s distribution/builder-config.mod dist/go.mod || echo 'note: distribution/builder-config.mod is not what go.mod needs any more; `make dist-lock` pins it anew'

dist-lock: dist/bin/builder ## pin the modules of the distribution anew
	rm -f dist/go.mod dist/go.sum
	dist/bin/builder --config builder-config.yaml --skip-compilation
	cp dist/go.mod distribution/builder-config.mod
	cp dist/go.sum distribution/builder-config.sum

dist/bin/builder: tools/go.mod tools/go.sum
	$(GO) build $(NO_VCS) -modfile=tools/go.mod -o $@ go.opentelemetry.io/collector/cmd/builder

generate: ## write generated files anew
	$(GO) generate ./...
	cd internal/dashboards && $(GO) generate ./...

check-generated: generate ## fail if a generated file is not what is committed
	@git diff --exit-code --stat -- . || { echo 'generated files are not up to date: run `make generate` and commit'; exit 1; }
	@new=$$(git ls-files --others --exclude-standard); [ -z "$$new" ] || { echo "generated files are not committed: $$new"; exit 1; }

test: ## all tests, with the race detector if it can be had
ifndef RACE
	@echo 'note: no cgo or no C compiler here, so the tests run without the race detector'
endif
	$(GO) test $(NO_VCS) $(RACE) ./...
	@set -e; for module in $(MODULES); do echo "$(GO) test $(NO_VCS) $(RACE) ./... # in $$module"; (cd $$module && $(GO) test $(NO_VCS) $(RACE) ./...); done

.PHONY: test-linear
test-linear: ## tests of how processor time grows with the input, without the race detector
	$(GO) test $(NO_VCS) -count=1 -run 'IsLinear$$' ./internal/...

lint: ## gofumpt, go vet, staticcheck
	@unformatted=$$(git ls-files '*.go' | grep -v '/generated_' | xargs $(TOOL) gofumpt -l); [ -z "$$unformatted" ] || { echo "gofumpt would change:"; echo "$$unformatted"; exit 1; }
	@set -e; for module in . $(MODULES); do echo "go vet, staticcheck # in $$module"; (cd $$module && $(GO) vet $(NO_VCS) ./... && $(GO) tool -modfile=$(CURDIR)/tools/go.mod staticcheck ./...); done

fuzz: ## every fuzz target for FUZZTIME (10s)
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test $(NO_VCS) -run '^$$' -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test $(NO_VCS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

SOAKTIME ?= 5m

soak: ## the processor under load, trouble and restarts for SOAKTIME (5m)
	RESULTSEAL_SOAK=$(SOAKTIME) $(GO) test $(NO_VCS) $(RACE) -run '^TestSoak$$' -count 1 -v -timeout 0 ./processor/resultsealprocessor

# What is measured beside other processors and programs is a module of its own, so
# that those are no requirements here. A pass to try something takes a minute:
# make bench BENCHTIME=100ms BENCHFLAGS='-only processor'
BENCH := cd test/bench && $(GO) run $(NO_VCS) . -benchtime $(BENCHTIME) -out ../../dist/bench.txt $(BENCHFLAGS)

bench: dist ## measure what everything costs, each for BENCHTIME (1s): one table; every round goes to dist/bench.txt
	$(BENCH)

bench-docs: dist ## the same, and put the table into docs/performance.md
	$(BENCH) -docs ../../docs/performance.md

pgo: dist ## profile the distribution under load anew: distribution/builder-config.pgo
	cd test/bench && $(GO) run $(NO_VCS) . -pgo ../../distribution/builder-config.pgo

bench-go: ## the benchmarks of the packages, each for BENCHTIME (1s)
	$(GO) test $(NO_VCS) -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

test-bench: ## test what make bench measures with
	cd test/bench && $(GO) vet $(NO_VCS) ./... && $(GO) tool -modfile=../../tools/go.mod staticcheck ./... && $(GO) test $(NO_VCS) -count=1 ./...

demo: dist ## run the quickstart: recorded spans in, verdicts out
	cd examples/quickstart/demo && $(GO) build $(NO_VCS) -o $(CURDIR)/dist/demo .
	dist/demo

clean: ## remove what was built
	rm -rf dist

.PHONY: test-distribution
test-distribution: dist ## build the distribution and test it from end to end
	cd test/distribution && RESULTSEAL_REQUIRE_DISTRIBUTION=1 $(GO) test $(NO_VCS) -count=1 ./...

.PHONY: test-own-collector
test-own-collector: dist/bin/builder ## build a collector from the manifest of the processor's README
	cd test/distribution && RESULTSEAL_BUILDER=$(CURDIR)/dist/bin/builder $(GO) test $(NO_VCS) -count=1 -timeout 20m -run '^TestOwnCollector$$' ./...

# The published reference, in a Python environment of its own. Its answers are those of
# Python 3.11.
PYTHON ?= $(shell command -v python3.11 || echo python3)

.PHONY: reference test-reference
reference: dist/reference/bin/resultseal ## install the published reference, for make test-reference: needs Python 3.11

dist/reference/bin/resultseal:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || { echo '$(PYTHON) is not Python 3.11; name one with PYTHON='; exit 1; }
	rm -rf dist/reference
	$(PYTHON) -m venv dist/reference
	dist/reference/bin/python -m pip install --quiet --disable-pip-version-check resultseal==0.1.3

test-reference: reference ## compare 20,000 generated cases and some fixtures with the published reference
	RESULTSEAL_REFERENCE_PYTHON='$(CURDIR)/dist/reference/bin/python' RESULTSEAL_REQUIRE_REFERENCE=1 \
		$(GO) test $(NO_VCS) -count=1 -run '^TestReference' ./internal/engine ./cmd/resultseal

.PHONY: dashboards e2e jaeger
dashboards: ## write the Grafana dashboards anew
	cd internal/dashboards && $(GO) generate ./...

jaeger: dist/jaeger ## build Jaeger, for make e2e: a long download and some minutes the first time

dist/jaeger: deploy/jaeger-tool/go.mod deploy/jaeger-tool/go.sum
	cd deploy/jaeger-tool && nice $(GO) build $(NO_VCS) -ldflags '-s -w' -o ../../$@ github.com/jaegertracing/jaeger/cmd/jaeger

e2e: dist ## run Prometheus, Alertmanager and Jaeger, where they are installed, around the distribution
	cd test/e2e && RESULTSEAL_E2E=1 $(GO) test $(NO_VCS) -count=1 -timeout 15m -v ./...

# The distribution for Kafka is of a later release of the collector, so it has a
# builder, pinned modules and tests of its own. Its modules are not found anew by
# the builder: that wants what tests of other modules need, and one of those has no
# such release. To raise it, edit deploy/kafka/builder-config.yaml and .mod.
KAFKA_BUILDER := go.opentelemetry.io/collector/cmd/builder@v0.165.0

.PHONY: test-kafka
test-kafka: dist/otelcol-resultseal-kafka ## the two tiers of deploy/kafka, around a broker in the test
	cd test/kafka && $(GO) test $(NO_VCS) -count=1 -timeout 10m ./...

dist/otelcol-resultseal-kafka: deploy/kafka/builder-config.yaml deploy/kafka/builder-config.mod deploy/kafka/builder-config.sum go.mod go.sum $(SOURCES)
	mkdir -p dist/kafka
	cp deploy/kafka/builder-config.mod dist/kafka/go.mod
	cp deploy/kafka/builder-config.sum dist/kafka/go.sum
	GOFLAGS='-mod=mod $(NO_VCS)' nice $(GO) run $(KAFKA_BUILDER) --config deploy/kafka/builder-config.yaml --skip-get-modules --gcflags all=-dwarf=false
	mv dist/kafka/otelcol-resultseal-kafka $@

# Every framework is installed below dist/, at the versions that its folder pins.
LANGS ?= python,node

.PHONY: recordings
recordings: ## record the scenario of test/recordings anew, for LANGS=python,node
	$(GO) run $(NO_VCS) ./test/recordings -langs '$(LANGS)' $(RECORDINGSFLAGS)
