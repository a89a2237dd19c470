// Package engine generates the load of one workflow inside one process, and
// measures it.
//
// It is not a client library (it retries nothing and hides nothing). It knows no cluster:
// runtime/exec calls it in a child process. It reads no workflow files: core/workflow does.
//
// One goroutine does all of it: an epoll loop. A virtual user is a record there, and a
// request of a request step allocates nothing. Packages below it do the work, and know
// neither steps nor users. pool carries requests. coroutine suspends functions and TLS
// handshakes. measure counts, also by the names of functions' requests. leases keeps rows and values. core/load/schedule says which iteration begins when. Only
// names are looked up beside the loop, and the poller wakes it for the answer.
//
// Source: DESIGN.md, "Engine"; docs/engine.md.
//
// The loop turns its parts, which are values. iterations begin on users. users start the
// steps of their iteration. requests make the bytes of a step and judge the answer.
// functions run a file's code. A function that waits records that in its call, and the
// loop does the work on its own stack. One that computes is suspended at the end of its time
// slice, and no other function of its user runs meanwhile. An exchange holds what a slot
// needs where a function reads an answer or a request follows a redirect.
//
// Invariants:
//
//	ENG-2 No retry: runtime/engine/pool starts a request (POOL-1) once for each step of an
//	      iteration, and once for each redirect that the engine follows and each challenge that it answers.
//	ENG-3 At Duration nothing new starts. Requests in flight end, time out, or are cancelled
//	      when GracefulStop is over. Else only a cancelled context cancels.
//	ENG-4 A timeout counts with what it took. Failures without an answer have no latency: they
//	      would flatter. runtime/engine/measure says how an account counts them.
//	ENG-5 What a peer sends is bounded (runtime/protocol/http1). So is what the engine keeps
//	      of it: kinds of errors, examples, log lines.
//	ENG-7 When Run returns, its goroutines, coroutines and descriptors are gone.
//	ENG-8 A process owes what waits for its own users, connections or handshakes
//	      (core/load/schedule, SCHED-1 and SCHED-2).
//	ENG-9 A cancelled run begins no iteration and sends no request, also in the turn of its cancel.
//	ENG-10 Each iteration of a workflow with a feed has a row from its begin on; none begins
//	      without. Two processes never take one row of the same round.
//
// Example:
//
//	result, err := engine.Run(ctx, engine.Config{
//		Workflow: w, VUs: 64, Duration: 10 * time.Second, Timeout: 5 * time.Second,
//	})
//
// Read config.go, graph.go; run.go, loop.go, rows.go, user.go; request.go, values.go,
// jar.go, encoded.go, prepared.go, exchange.go, redirect.go, stream.go; tasks.go, script.go, hooks.go, sessions.go; then
// result.go, debug.go.
package engine
