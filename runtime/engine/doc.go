// Package engine generates the load of one workflow inside one process, and
// measures it.
//
// It is not a client library (it retries nothing and hides nothing), knows no
// cluster (runtime/exec calls it in a child process) and does not read workflow
// files (core/workflow does).
//
// Two paths do the same thing. A workflow of plain-HTTP requests alone runs on one
// epoll loop, where a virtual user is a record of 216 bytes and a request
// allocates nothing. Anything else (functions, checks, TLS, redirects, debug) runs
// a goroutine for each pass. Source: DESIGN.md, "Inside the executor". When which pass begins
// is said to both by one drive, which reads no clock, from the schedule of core/load.
//
// Invariants:
//
//	G1 Started == OK + Failed + TimedOut + Cancelled for each step when Run returns;
//	   before that, the difference is in flight.
//	G2 A request is started when it is about to be put on the wire, connecting
//	   included, and put there at most once: no retry, no second thought.
//	G3 At Duration nothing new starts; what is in flight ends, times out, or is cancelled
//	   when GracefulStop is over. Else only a cancelled context cancels.
//	G4 Latency runs from the intended start to the last byte; a timeout counts with
//	   what it took. Failures without an answer have no latency: they would flatter.
//	   The phases of a request with a latency follow each other without a gap: they
//	   add up to it. The windows in time add up to the counts.
//	G5 What a peer sends is bounded (runtime/protocol/http1) and so is what is kept
//	   of it here: kinds of errors, examples, log lines.
//	G6 A server may answer before it has the request: the answer counts, the rest is not
//	   sent. Of a host's addresses, one that never answers leaves time for the others.
//	   An end under TLS without close_notify ends no body that has no length.
//	   A timeout runs from when a request is put on its way.
//	G7 When Run returns, its goroutines and descriptors are gone.
//	G8 Of an open workflow each arrival that was due begins once, or is dropped and counted:
//	   Begun + Dropped is how many there were. What this process itself has missed it
//	   owes: that begins as soon as somebody is free, and is not dropped for the delay.
//	G9 No more passes are under way than there are virtual users. One that is to leave
//	   leaves between two passes. Which weighted step a pass takes, and how long its user
//	   thinks, follows from the seed, the user and the pass alone.
//
// Example:
//
//	result, err := engine.Run(ctx, engine.Config{
//		Workflow: w, VUs: 64, Duration: 10 * time.Second, Timeout: 5 * time.Second,
//	})
//
// Read config.go, graph.go, account.go, phases.go; drive.go, crew.go, arrivals.go, schedule.go; the loop: loop.go, user.go, conn.go; the
// goroutines: general.go, conduct.go, virtual.go, client.go, exchange.go, send.go, dial.go, wire.go,
// redirect.go; then result.go, limit.go, debug.go.
package engine
