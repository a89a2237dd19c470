// Command coverage lists the blocks of core that no world and no property runs.
//
// It reads two profiles that `go tool covdata textfmt` and `go test -coverprofile`
// write: one of the worlds, one of the packages' rapid properties. It is no figure of all
// tests: a recorded text runs a block and need not judge it.
//
// testdata/unreached.txt names the blocks that may stay unreached, function by function, with
// their number and the reason. A block that it does not name is unexplained, and fails the
// command; so does a share above -most.
//
//	make coverage SEEDS=1..20
//	go run ./cmd/coverage -worlds worlds.cov -properties properties.cov -json reach.json
//
// Generated code is left out: it has one shape, and its generator's properties judge it.
//
// Read main.go, then profile.go, then report.go.
package main
