// Package loop drives one node.Machine from one goroutine: it is the node.Env of
// production.
//
// It opens no socket and writes no file. Run gets the network, the store and the executor.
// They report through the methods of Loop (StreamOpened, StreamBroken, Message, Stored,
// ExecEvent), from any goroutine.
//
// Source: DESIGN.md, "The kernel". The clock is benbjohnson's, real in production. Env.Now
// counts CLOCK_BOOTTIME, which advances while a machine sleeps, so that leases do not stop
// with a laptop's lid.
//
// Invariants:
//
//	LOOP-1 Step is called from one goroutine, with InputStart first and once.
//	LOOP-2 The loop delivers no timer that was cancelled or replaced, even if it waits in
//	       the mailbox (NODE-2).
//	LOOP-3 Of one stream a machine sees StreamOpened before any message, nothing
//	       after StreamBroken, and nothing at all after its own Close.
//	LOOP-4 The loop rejects and counts a message that finds its lane full; the caller breaks
//	       the stream (NODE-4).
//	LOOP-5 Run returns after the last Step, and every session has ended by then.
//	LOOP-6 A panic of the machine ends its node, never its process. The log shows it with
//	       the inputs that led to it.
//	LOOP-7 A look at the machine runs between two steps, and the loop waits for no looker.
//
// Read loop.go, inbox.go, timers.go, env.go, session.go, look.go, trail.go, stats.go,
// source.go, boot.go.
package loop
