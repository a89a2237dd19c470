// Package engine generates the load of one workflow inside one process, and
// measures it.
//
// It is not a client library (it retries nothing and hides nothing), knows no
// cluster (runtime/exec calls it in a child process) and does not read workflow
// files (core/workflow does).
//
// One goroutine does all of it: an epoll loop, on which a virtual user is a record and a
// request of a request step allocates nothing. Functions and TLS handshakes are coroutines
// of the loop (iter.Pull): it alone makes, resumes and ends them, so that nothing is locked.
// A function that waits leaves what it waits for in its coroutine, and the loop does that on
// its own stack. One that computes is suspended at the end of its shard, and no other
// function of its user runs meanwhile. Only names are looked up beside the loop, which is
// woken through the poller. core/load/schedule says which iteration begins when. Source: DESIGN.md, "Execution".
//
// A lane is a place for one request at a time: what is known of it while it is under way. A
// request step has one of its user, a coroutine one of its own. A conn is a connection; while
// it carries nothing it is kept by its user. An exchange is what a lane needs besides where
// an answer is looked at or a redirect followed.
//
// Over HTTP/2 a conn has a multi, and each of its streams is a lane's request. Such
// connections, and those of HTTP/1.1 that all users share, belong to a pool of their host,
// where lanes wait for a free one. A connection is fed what was read, then the pools are
// looked at, then what was queued is written: once, however many streams it is about.
//
// Invariants:
//
//	ENG-2 A request is started when it is about to be put on the wire, connecting
//	      included, and put there at most once: no retry, no second thought.
//	      Sent counts those whose last byte the kernel took, whatever became of them: started minus
//	      sent found no connection, no stream or no room in time, or was cancelled first.
//	ENG-3 At Duration nothing new starts; what is in flight ends, times out, or is cancelled
//	      when GracefulStop is over. Else only a cancelled context cancels.
//	ENG-4 A timeout counts with what it took. Failures without an answer have no latency: they
//	      would flatter. What an account says of them is in runtime/engine/measure.
//	ENG-5 What a peer sends is bounded (runtime/protocol/http1) and so is what is kept
//	      of it here: kinds of errors, examples, log lines.
//	ENG-6 A server may answer before it has the request: the answer counts, the rest is not
//	      sent. Of a host's addresses, one that never answers leaves time for the others.
//	      An end under TLS without close_notify ends no body that has no length.
//	      A timeout runs from when a request is put on its way: one that waits in a pool has not
//	      started. It waits as long as anything of its pool is under way.
//	ENG-7 When Run returns, its goroutines, coroutines and descriptors are gone.
//	ENG-8 What waits for a user, a connection or a handshake of this process is owed by it
//	      (core/load/schedule, SCHED-1 and SCHED-2).
//	ENG-9 A cancelled run begins no iteration and sends no request, also in the turn of its cancel.
//	ENG-10 Each iteration of a workflow with a feed has a row from its begin on; none begins
//	      without. Two processes never take one row of the same round.
//	ENG-11 A stream whose time is over is reset, and its connection lives on, unless nothing was read
//	      from it for that long and it does not answer PING, or takes no bytes. GOAWAY, an end or
//	      a fault of a connection ends its streams, each with what it means for that one.
//
// Example:
//
//	result, err := engine.Run(ctx, engine.Config{
//		Workflow: w, VUs: 64, Duration: 10 * time.Second, Timeout: 5 * time.Second,
//	})
//
// Read config.go, graph.go, rows.go; loop.go, user.go, lane.go,
// conn.go, dial.go, resolve.go, names.go, sources.go, secure.go, tlsoptions.go, proxy.go, jar.go, encoded.go; pool.go, multiplex.go;
// coroutine.go, script.go, hooks.go; exchange.go, redirect.go; then result.go, limit.go, debug.go.
package engine
