# apilab: two commands do everything on a fresh machine with Go and Node: make run, make test.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# One set of flags for every build and test, so that one cache serves them all: compiling the control plane takes
# minutes once, seconds afterwards.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

BIN := bin/apilab
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# The rooms that do not link the control plane; vet and staticcheck would compile all of Kubernetes for the others.
LIGHT := ./assets ./checker/... ./cli/... ./cluster ./cluster/kind/... ./cluster/learner/... ./cluster/limits/... ./cluster/observe ./content/... ./exercises/... ./gateway/... ./server/... ./shell/... ./test/doors/...
SCENARIOS := ./test/abuse ./test/scenarios ./test/ownmachine ./test/kind ./test/streams
HEAVY := . ./cluster/embedded/...
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

GO_SOURCES := $(shell find . -name '*.go' -not -path './assets/node_modules/*' -not -path './operator/*' -not -name '*_test.go' 2>/dev/null) go.mod go.sum
CONTENT := $(shell find content exercises -type f -not -name '*.go' 2>/dev/null) $(shell find server/store -name '*.sql' 2>/dev/null) cli/workspace/operator.txtar
WEB_SOURCES := $(shell find assets -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -name '*.go' 2>/dev/null)

##@ Use
.PHONY: run
run: build ## build what is missing and start apilab; a browser page opens
	./$(BIN)

.PHONY: build
build: $(BIN) ## build bin/apilab (10 to 20 minutes the first time, seconds later)

$(BIN): $(GO_SOURCES) $(CONTENT) assets/dist/.built
	@mkdir -p bin
	go build -ldflags '$(LDFLAGS)' -o $@ .

assets/node_modules/.installed: assets/package.json assets/package-lock.json
	cd assets && npm ci --no-audit --no-fund
	@touch $@

assets/dist/.built: assets/node_modules/.installed $(WEB_SOURCES) $(filter %.md,$(CONTENT))
	cd assets && npm run build
	@touch $@

##@ Prove
.PHONY: test
test: lint test-unit test-web test-embedded test-scenarios test-abuse-short test-operator test-ownmachine verify test-e2e ## everything that CI runs

.PHONY: test-unit
# One package at a time: several of them start whole control planes and shells.
test-unit: $(BIN) ## unit tests of the rooms, the checks against the real binary among them
	APILAB_BIN=$(CURDIR)/$(BIN) go test -p 1 $(LIGHT)

.PHONY: test-web
test-web: assets/node_modules/.installed ## unit tests of the web UI
	cd assets && npm test

.PHONY: test-embedded
test-embedded: $(BIN) ## the embedded control plane
	go test -p 1 -vet=off -ldflags '-s -w' -timeout 20m $(HEAVY)

.PHONY: test-scenarios
test-scenarios: $(BIN) ## scenario scripts against the real binary
	APILAB_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 20m ./test/scenarios/...

.PHONY: test-abuse
test-abuse: $(BIN) ## attacks on the real binary, and learners who misbehave beside others: ten minutes
	APILAB_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 60m ./test/abuse

.PHONY: test-abuse-short
test-abuse-short: $(BIN) ## those attacks that take no minutes
	APILAB_BIN=$(CURDIR)/$(BIN) go test -count=1 -short -timeout 20m ./test/abuse

.PHONY: verify
# Among the exercises are the referee's, with the operators that stand for the learner's: a good one, and those with flaws
# that it must catch.
verify: $(BIN) operators ## prove every exercise and transcript against a live API server
	./$(BIN) lint
	./$(BIN) verify --programs operator/bin --again

.PHONY: operators
operators: $(BIN)
	cd operator && go build -ldflags '-s -w' -o bin/ ./cmd/variants && go build -ldflags '-s -w' -o bin/manager ./cmd
	./$(BIN) kind build operator/cmd --tag backup-operator:v1 --output operator/bin/backup-operator.tar
	cp operator/hack/deploy operator/bin/

.PHONY: test-operator
test-operator: $(BIN) operators ## the reference operator, and the project that is laid out
	cd operator && go vet ./... && go run $(STATICCHECK) ./...
	cd operator && APILAB_BIN=$(CURDIR)/$(BIN) go test -count=1 ./...
	APILAB_TEST_OPERATOR=1 go test -count=1 ./cli/workspace

.PHONY: test-ownmachine
test-ownmachine: $(BIN) operators ## learners of a class with kubectl and an operator on their own machine
	APILAB_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 20m ./test/ownmachine

.PHONY: test-e2e
test-e2e: $(BIN) ## a person's way through the pages, in Chromium, with axe
	cd assets && APILAB_BIN=$(CURDIR)/$(BIN) npm run e2e

.PHONY: test-kind
test-kind: $(BIN) operators assets/node_modules/.installed ## everything that takes real nodes; without a container engine, in kindlab
	test/kind/run

.PHONY: lint
lint: assets/node_modules/.installed ## gofmt, go vet, staticcheck, eslint, tsc
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt these files:"; echo "$$unformatted"; exit 1; fi
	go vet $(LIGHT) $(SCENARIOS)
	go run $(STATICCHECK) $(LIGHT) $(SCENARIOS)
	cd assets && npm run lint

.PHONY: bench
bench: $(BIN) ## measure start, memory, idle CPU and latencies; table here, figures in bench.json
	./$(BIN) bench --output bench.json

.PHONY: bench-class
bench-class: $(BIN) ## measure how many learners this machine bears: 60 by script for 10 minutes, four times; figures in bench-class.json
	./$(BIN) bench class cold warm registered killed --output bench-class.json

##@ Keep house
CONTROLLER_GEN := go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
SKELETON_GEN := $(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt crd rbac:roleName=backup-operator paths=./skeleton/... \
	output:crd:artifacts:config=skeleton/config/crd/bases output:rbac:artifacts:config=skeleton/config/rbac

.PHONY: generate
generate: ## write generated files anew: exercises/schema.json, the operator's, and the project that is laid out
	go test ./exercises -update
	$(MAKE) -C operator generate manifests
	cd operator && $(SKELETON_GEN)
	go test ./cli/workspace -update

.PHONY: clean
clean: ## remove what was built (not the Go cache)
	rm -rf bin operator/bin assets/node_modules bench.json bench-class.json
	find assets/dist -mindepth 1 -not -name .keep -delete

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
