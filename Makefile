# Wayleave. The targets that matter: run, test, build. `make help` lists all.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)
# The modules of the repository; tools/ is apart, so that no linter enters go.work.
PACKAGES := ./... ./adapters/mcp/...
# What these compute needs no race detector: SQLite (C, translated to Go) works in memory that the system gave it, which the
# detector does not watch at all; scrypt, and the compiler of WebAssembly, which makes PDFium of the PDF tests, are arithmetic
# of one goroutine. Instrumented, they take most of the time of the tests. Who calls them is watched, SQLite's driver too.
WAZERO := github.com/tetratelabs/wazero/internal/engine/wazevo
UNWATCHED := modernc.org/sqlite/lib modernc.org/libc modernc.org/memory golang.org/x/crypto/scrypt golang.org/x/crypto/pbkdf2 \
  $(WAZERO)/ssa $(WAZERO)/frontend $(WAZERO)/backend/...
RACE := -race $(foreach p,$(UNWATCHED),-gcflags='$(p)=-race=false')
CORPUS ?=
FUZZTIME ?= 60s

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: run
run: build ## start the service with its data in ./data and print what to paste and what to try
	./bin/wayleave serve --data ./data

.PHONY: build
build: ## the program, into bin/wayleave
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/wayleave ./cmd/wayleave

.PHONY: cross
cross: ## every platform that is promised, without cgo
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
	  echo "build $$os/$$arch"; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -o /dev/null ./cmd/wayleave; done; done

.PHONY: deps
deps: ## install what the tests need (prints it first; apt needs root)
	bash scripts/deps.sh

# Without cgo, as make cross builds: what it compiles for this machine is compiled once for both, and for the last tests.
.PHONY: check
check: export CGO_ENABLED = 0
check: bin/staticcheck ## format, vet, staticcheck, the shape of the repository
	@out=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -l); if [ -n "$$out" ]; then echo "gofmt these:"; echo "$$out"; exit 1; fi
	go vet $(PACKAGES) ./bench/...
	go vet -tags conformance ./internal/mcpserver/
	CGO_ENABLED=1 go vet ./internal/document/confine/
	./bin/staticcheck $(PACKAGES) ./bench/...
	go test ./internal/archtest/

bin/staticcheck: tools/go.mod tools/go.sum
	cd tools && GOWORK=off go build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck

.PHONY: test
test: ## everything: check, cross-builds, all tests with the race detector, real MCP clients
	bash scripts/deps.sh --if-missing
	$(MAKE) check
	$(MAKE) cross
	@# PostgreSQL of the tests syncs nothing: no test cuts the power. make soak and make bench leave it on.
	@# The command line's tests start the program some 400 times, and clienttest starts others' programs: without the race
	@# detector, under which the same servers run in the root package's tests, and without cgo, as a release. make check has vetted
	@# all of them.
	WAYLEAVE_TEST_POSTGRES_FSYNC=off go test -vet=off $(RACE) -timeout 20m $$(go list $(PACKAGES) ./bench/... | grep -vE "/(cmd/wayleave|internal/clienttest|internal/archtest)$$")
	CGO_ENABLED=0 WAYLEAVE_TEST_POSTGRES_FSYNC=off go test -vet=off -timeout 15m ./cmd/wayleave/ ./internal/clienttest/

.PHONY: test-corpus
test-corpus: ## third-party pages and documents: make test-corpus CORPUS=DIR
	@if [ -z "$(CORPUS)" ] || [ ! -d "$(CORPUS)" ]; then echo "make test-corpus CORPUS=DIR: DIR must hold the case folders (extraction/, documents/)"; exit 2; fi
	WAYLEAVE_CORPUS="$(abspath $(CORPUS))" go test -timeout 30m -run 'Corpus' -v ./internal/corpustest/

.PHONY: bench
bench: ## the figures of docs/benchmarks.md, as ratios; CORPUS=DIR adds real pages
	cd bench && WAYLEAVE_CORPUS="$(if $(CORPUS),$(abspath $(CORPUS)))" go run .

.PHONY: figures
figures: ## docs/figures.md, how well pages are read, beside the peers: make figures CORPUS=DIR
	@if [ -z "$(CORPUS)" ] || [ ! -d "$(CORPUS)" ]; then echo "make figures CORPUS=DIR: DIR must hold extraction/"; exit 2; fi
	cd bench && go run ./reading -corpus "$(abspath $(CORPUS))" -out ../docs/figures.md

.PHONY: soak
soak: ## the same tests with large counts: a million URLs, long fuzzing, many hostile messages
	WAYLEAVE_SOAK=1 go test -parallel 8 -timeout 3h $(PACKAGES)
	$(MAKE) fuzz FUZZTIME=10m

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME each (60s)
	FUZZTIME=$(FUZZTIME) bash scripts/fuzz.sh
