# Every target is one line of help: `make` prints them. Tools run pinned, none
# is installed by hand; the only things needed are Go, make and, for the race
# detector, a C compiler.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
# One static binary, for any Linux of its architecture: no linker, library or resolver of the
# machine that builds it. The race detector alone needs C.
export CGO_ENABLED := 0

# Packages with goroutines, in their code or their tests: the race detector has nothing
# to find elsewhere. (Of page only a test has some: they read what a browser says.)
RACE_PKGS ?= $(filter-out ./runtime/page,$(shell grep -rlE '^\s*go [a-zA-Z]|"sync(/atomic)?"' --include=*.go runtime | xargs -n1 dirname | sort -u | sed 's|^|./|'))
# One goroutine runs the engine's loop and all codecs on it: their hostile catalogues tell the detector nothing
# that a few of their other tests do not. Those of islands stay. What axe-core says of a page has nothing for it.
RACE_SKIP ?= ^TestCatalogueOf(AMQP|FTP|GRPC|HostileHTTP2|HostileServers|Kafka|MQTT|Mail|MongoDB|MySQL|NATS|Postgres|Pulls|Redis|Servers|Subscriptions|TCP|UDP|WebSocket|WebSocketInSessions)$$|^TestAccessible$$
FUZZTIME ?= 20s
# The swarm's scenario (or all), its seeds, A..B, how many of them run at the same
# time, and how long each lasts: 3m, say; nothing means what its scenario says.
SCENARIO ?= storm
SEEDS ?= 1..100
JOBS ?= 2
VIRTUAL ?=
# Every world: on SEEDS, or EACH times at least, on seeds that the text FRESH draws, and
# until BUDGET is over; OUT keeps what is done. The seeds of the coverage.
EACH ?=
FRESH ?=
BUDGET ?=
OUT ?= out/worlds
COVERAGE_SEEDS ?= 20
DETERMINISM_SEEDS ?= 10
# The commit that same-hashes and size compare with; the seeds that same-hashes plays on both sides; by how many MB
# the binary may have grown; WHY=1 to list what weighs.
BASE ?= HEAD
HASH_SEEDS ?= 1..10
GROW ?= 6
WHY ?=
BENCHTIME ?= 1s
# How many runs a mutant is given: its recorded seed, then others; how long what
# caught it is made small; which of them (a pattern); RECORD=1 writes the seeds.
TRIES ?= 200
SHRINK ?= 20s
MUTANT ?=
RECORD ?=
# Real clusters that are broken: how many runs, the first one's seed, how long things
# go wrong in each, FLOOD=1 to flood the gates meanwhile, FORMER for the binary of another
# version, REPLACE=1 to replace the gates instead, APART=1 for datacenters that reach each other in the gates' port alone; the seeds of the comparison with another membership.
RUNS ?= 1
SEED ?= 1
FOR ?= 60s
FLOOD ?=
FORMER ?=
REPLACE ?=
APART ?=
BENCH_SEEDS ?= 20
# Other load generators beside ours: which experiments (with commas between them; all
# if none is named), QUICK=1 for runs of 2 s, ALONE=1 to leave the others out, STRICT=1
# to fail when a bar is missed.
ONLY ?=
QUICK ?=
ALONE ?=
STRICT ?=
# Where the control plane of Kubernetes is built.
KUBE_BIN ?= out/kube
# TWICE=1 builds each binary of a release again, from an export of the commit, and compares.
TWICE ?=
ROUNDS ?= 5

STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.1.4

# go test calls it a success when -run matches nothing. $(call must_have,PATTERN,PACKAGE)
must_have = go test -list '$(1)' $(2) | grep '^Test' >/dev/null || { echo "$(2) has no test that matches $(1): write it, or correct the Makefile" >&2; exit 1; }

.PHONY: lint-house lint-vet lint-systems lint-staticcheck lint-vulnerabilities lint-gofmt lint-tidy
.PHONY: help test race lint bench fuzz swarm worlds same-hashes coverage determinism mutants chaos bench-membership bench-peers demo site release size image deploy-check kube kube-binaries generate all bin/hyperscale

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

test: ## run every test
	go test ./...

# The race detector needs a build of its own, not a second vet: lint-vet reads the same files.
race: ## run the tests of packages with goroutines under the race detector (RACE_PKGS)
	CGO_ENABLED=1 go test -race -vet=off -skip '$(RACE_SKIP)' $(RACE_PKGS)

lint: ## house rules, vet, other systems, staticcheck, govulncheck, gofmt, go mod tidy
	@$(MAKE) -k lint-house lint-vet lint-systems lint-staticcheck lint-vulnerabilities lint-gofmt lint-tidy

lint-house:
	go run ./cmd/lint

# The image's binary has files of its own: build tag node. Vet compiles what deploy-check builds, so that CI does so
# while tests wait.
lint-vet:
	go vet ./...
	go vet -tags node ./cmd/hyperscale/internal/simulated
	cd deploy/check && go vet ./...
	cd bench/membership && go vet ./...
	cd bench/peers && go vet ./...
	cd bench/servers && go vet ./...
	cd bench/vendors && go vet ./...

# The commands that need no engine work on a laptop with another system, too. Vet would want the tests, which
# are of Linux.
lint-systems:
	go run ./cmd/lint -system darwin/arm64 ./cmd/hyperscale

lint-staticcheck:
	$(STATICCHECK) ./...

lint-vulnerabilities:
	@.ci/vulncheck $(GOVULNCHECK) ./...

lint-gofmt:
	@echo 'gofmt -l, but for what builds and tests leave in out'
	@unformatted=$$(find . -path ./out -prune -o -name '*.go' -print0 | xargs -0 "$$(go env GOROOT)/bin/gofmt" -l); \
	if [[ -n $$unformatted ]]; then printf 'not formatted, run gofmt -w on:\n%s\n' "$$unformatted" >&2; exit 1; fi

# The modules of the comparisons stand on this one, and fall behind when it moves.
lint-tidy:
	go mod tidy -diff
	cd bench/membership && go mod tidy -diff
	cd bench/peers && go mod tidy -diff
	cd bench/servers && go mod tidy -diff
	cd bench/vendors && go mod tidy -diff
	cd deploy/check && go mod tidy -diff

bench: ## run every benchmark (BENCHTIME)
	@.ci/bench $(BENCHTIME)

fuzz: ## run every fuzz target for FUZZTIME, one after the other
	@.ci/fuzz $(FUZZTIME)

swarm: bin/hyperscale ## run SCENARIO under SEEDS (A..B), failing seeds stay in out/swarm, made small
	bin/hyperscale sim swarm --scenario $(SCENARIO) --seeds $(SEEDS) --jobs $(JOBS) $(if $(VIRTUAL),--virtual $(VIRTUAL)) --out out/swarm

worlds: bin/hyperscale ## run every world under SEEDS, or EACH times (FRESH, BUDGET); a stop loses nothing of OUT
	bin/hyperscale sim swarm --scenario all $(if $(EACH),--each $(EACH) $(if $(FRESH),--fresh $(FRESH)),--seeds $(SEEDS)) $(if $(BUDGET),--budget $(BUDGET)) --jobs $(JOBS) --out $(OUT)

same-hashes: ## compare the trace hash of every world with the commit BASE, plain and over the wire (HASH_SEEDS)
	@.ci/same-hashes "$(BASE)" $(HASH_SEEDS) $(JOBS)

coverage: ## list blocks of core that no world runs under COVERAGE_SEEDS seeds, nor a property
	@.ci/coverage $(COVERAGE_SEEDS) $(JOBS)

determinism: ## compare trace hashes of every scenario across processes and options (DETERMINISM_SEEDS, FRESH)
	@$(call must_have,DeterminismAcrossProcesses,./scenarios)
	HYPERSCALE_DETERMINISM_SEEDS=$(DETERMINISM_SEEDS) HYPERSCALE_DETERMINISM_FRESH=$(FRESH) go test ./scenarios -run DeterminismAcrossProcesses -count=1 -timeout 120m

mutants: ## plant each bug of testdata/mutants and show what catches it (TRIES, SHRINK, MUTANT, RECORD)
	@$(call must_have,Mutants,./scenarios)
	HYPERSCALE_TERMINAL=$$(tty <&2 || true) HYPERSCALE_MUTANTS_TRIES=$(TRIES) HYPERSCALE_MUTANTS_SHRINK=$(SHRINK) HYPERSCALE_MUTANTS_RECORD=$(RECORD) \
		go test ./scenarios -run 'TestMutantsAreCaught/all/($(MUTANT))' -v -count=1 -parallel $(JOBS) -timeout 180m | grep --line-buffered -vE '^ *(=== |--- PASS)'

chaos: bin/hyperscale ## break a real cluster and judge its histories; needs root, ip and /dev/net/tun (RUNS, SEED, FOR, FLOOD, FORMER, REPLACE, APART); OUTPUTS=1: kill 50 gates that deliver rows
ifdef OUTPUTS
	@$(call must_have,GatesDeliverWhateverDies,./cmd/hyperscale)
	HYPERSCALE_KILLS=$${HYPERSCALE_KILLS:-50} go test ./cmd/hyperscale -run GatesDeliverWhateverDies -v -count=1 -timeout 60m
else
	go build -o bin/chaos ./cmd/chaos
	bin/chaos --binary bin/hyperscale --runs $(RUNS) --seed $(SEED) --for $(FOR) $(if $(FLOOD),--flood) $(if $(FORMER),--former $(FORMER)) $(if $(REPLACE),--replace) $(if $(APART),--apart)
endif

bench-membership: ## compare core/swim with hashicorp/memberlist on the same networks (BENCH_SEEDS)
	cd bench/membership && HYPERSCALE_BENCH_CACHE=$${HYPERSCALE_BENCH_CACHE:-$(CURDIR)/out/membership-peer.json} HYPERSCALE_BENCH_SEEDS=$(BENCH_SEEDS) go test -run TestBesideMemberlist -v -count=1 -timeout 60m

bench-peers: bin/hyperscale ## compare `run` with wrk, k6, vegeta and others: cost, memory, truth (ONLY, ROUNDS, QUICK, ALONE, STRICT)
	cd bench/peers && mkdir -p $(CURDIR)/out/peers && go build -o $(CURDIR)/out/peers/peers . && $(CURDIR)/out/peers/peers -binary $(CURDIR)/bin/hyperscale -cache $(CURDIR)/out/peers \
		-rounds $(ROUNDS) $(if $(ONLY),-only $(ONLY)) $(if $(QUICK),-quick) $(if $(ALONE),-alone) $(if $(STRICT),-strict)

demo: ## watch a real load test on a local cluster
	go run ./cmd/hyperscale demo

site: ## write the manuals as offline pages into out/site
	@rm -rf out/site
	@go run ./cmd/site -o out/site

release: ## build static binaries of every system into out/release, with bills of materials and SHA256SUMS (TWICE=1)
	go run ./cmd/release -o out/release $(if $(TWICE),-twice)

size: ## compare the binary, its modules and the start of an executor with the commit BASE (GROW, WHY=1)
	go run ./cmd/size -base "$(BASE)" -grow $(GROW) $(if $(WHY),-why)

image: ## build the image with buildah, as an OCI layout in out/image, from a release of linux/amd64
	go run ./cmd/release -o out/image/context -systems linux/amd64/node
	buildah bud --isolation chroot --timestamp 0 -f deploy/image/Dockerfile.binary -t hyperscale out/image/context
	buildah push hyperscale oci:out/image/oci:hyperscale

# What a test skips for want of a program or a right is told.
deploy-check: ## test the image, units and manifests of deploy/
	@cd deploy/check && go vet ./... && go test -v ./... | grep -E 'SKIPPED|^ *--- FAIL|^(FAIL|ok|panic)|_test.go:'

kube: bin/hyperscale kube-binaries ## test deploy/kubernetes and the operator with a real control plane of Kubernetes (ONLY: a pattern; KUBE_BIN)
	@cd deploy/kube && go mod tidy -diff && go vet ./... && HYPERSCALE_KUBE=1 HYPERSCALE_KUBE_BIN=$(abspath $(KUBE_BIN)) go test -p 1 -v -count=1 -timeout 120m -run '$(ONLY)' ./... 2>&1 | tee $(CURDIR)/out/kube.log | grep -E '^ *--- |^(FAIL|ok|panic)|_test.go:' || { tail -n 100 $(CURDIR)/out/kube.log >&2; exit 1; }

kube-binaries: ## build etcd and the control plane of Kubernetes into KUBE_BIN, which takes minutes the first time
	.ci/kube $(KUBE_BIN)

generate: ## write generated code and manuals again
	go generate ./...

all: lint test race deploy-check determinism swarm mutants fuzz ## everything that CI runs

bin/hyperscale:
	go build -o $@ ./cmd/hyperscale
