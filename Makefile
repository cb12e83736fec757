# All set-up is in two commands: make demo and make test. make e2e needs root.
GO      ?= go
BIN     ?= bin
VERSION ?= 0.1.0
LDFLAGS  = -s -w -X main.version=$(VERSION)
# Packages in testdata, which ./... leaves out.
E2E = ./testdata/lab/... ./testdata/e2e/... ./testdata/bench/rootfs
# The most bytes that the binary may have. It has 21 million.
LARGEST = 23000000
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

export CGO_ENABLED = 0

.PHONY: build demo test check generate format lint site e2e e2e-node bench bench-rootfs clean

build: ## the binary, static, for this machine
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/hostler ./cmd/hostler
	@size=$$(wc -c <$(BIN)/hostler); [ $$size -lt $(LARGEST) ] || { echo "the binary has $$size bytes, the most are $(LARGEST)"; exit 1; }

demo: build ## the main job on an offline root: plan, apply, repair, reset
	testdata/demo/run $(BIN)/hostler

test: ## all tests that need no root
	$(GO) test ./...

check: ## generated files are fresh, code is formatted and clean, tests pass
	@before=$$(git status --porcelain; git diff | sha256sum); $(MAKE) --no-print-directory generate; \
	after=$$(git status --porcelain; git diff | sha256sum); \
	if [ "$$before" != "$$after" ]; then echo "make generate changed files; commit them:"; git status --porcelain; exit 1; fi
	@$(MAKE) --no-print-directory format lint test

generate: ## lists, reference pages
	$(GO) generate ./builtins/... ./interpreter/... ./recipes
	$(GO) generate ./cmd/...

format: ## fails when a file is not formatted
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi

lint: ## vet and staticcheck, the e2e files too
	$(GO) vet -tags e2e ./... $(E2E) ./testdata/node/...
	$(GO) run $(STATICCHECK) -checks inherit,-ST1005 -tags e2e ./... $(E2E) ./testdata/node/...
	GOARCH=arm64 $(GO) build -o /dev/null ./cmd/hostler

e2e: ## real trees and booted hosts; root, Debian packages
	testdata/lab/prepare
	$(GO) test -tags e2e -count=1 -timeout 40m -p 1 $(E2E) ./interpreter/host/linux/... ./interpreter/rootfs/...

e2e-node: ## the shipped Kubernetes worker joins a real control plane; root, ten minutes more when nothing is cached
	testdata/lab/prepare node
	testdata/node/prepare
	$(GO) test -tags e2e -count=1 -timeout 30m -v ./testdata/node

bench: ## benchmarks beside the code, lint and validate as whole programs, and what nothing costs on booted hosts; root (BENCH_COMPARE=1: beside ansible and puppet)
	$(GO) test -run '^$$' -bench . -benchmem ./interpreter/...
	$(GO) run ./testdata/bench/authoring
	testdata/lab/prepare
	testdata/bench/prepare
	$(GO) test -tags e2e -count=1 -timeout 40m -v -run TestCostOfNothing ./testdata/bench -write

bench-rootfs: ## unpacking against tar, pigz, zstd, umoci, skopeo and import-tar; root
	testdata/lab/prepare
	$(GO) run ./testdata/bench/rootfs

site: ## the documentation as a static site in bin/site
	$(GO) run ./docs/site $(BIN)/site

clean:
	rm -rf $(BIN)
