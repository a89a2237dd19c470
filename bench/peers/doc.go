// Peers runs `hyperscale run` beside the load generators that people use today,
// on this machine, one after the other in turn, and prints how they compare:
// requests per CPU second, memory, and what each tells its user about a server
// that stood still.
//
// It is a module of its own, so that its dependencies are nobody else's, and
// installs nothing: k6, vegeta, bombardier and hey are built from the Go module
// proxy, h2load is unpacked from Debian's packages, into a folder below out/. wrk,
// nginx and oha are used if they are on the machine. What is missing is skipped,
// and the line that would bring it is printed.
//
// Invariants:
//
//	B1 The client has a processor of its own, the server another one; nothing of
//	   a client (children, orphans) runs elsewhere or goes uncounted: a wrapper
//	   process adopts what its command leaves behind and waits for all of it.
//	B2 Requests are counted by the server where it is one of ours, not by who is
//	   measured. What a client claims is read, too, and a difference is told.
//	B3 Runs are interleaved: one round runs each client once, and the next round
//	   begins with another one. Best of all rounds, and their spread, are printed.
//	B4 Where two clients cannot be treated alike the peer is favoured: vegeta
//	   writes to a file and is not asked for its report inside what is measured,
//	   k6 discards bodies.
//	B5 No figure is an assertion but under -strict.
//
// Run it with `make bench-peers`; ONLY=plaintext,truth selects experiments, QUICK=1
// tries everything in runs of 2 s, ALONE=1 leaves the peers out.
//
// Read main.go, then cost.go, scaling.go, memory.go, truth.go, lateness.go and accounting.go (experiments),
// ours.go, clients.go, parse.go and build.go (clients), server.go, http1.go and http2.go
// (servers), measure.go and tree.go (what a command costs), oracle.go (what is
// true), table.go, progress.go.
package main
