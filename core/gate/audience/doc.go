// Package audience holds the clients of a gate: requests that wait for a job, watchers that follow
// one, and clients that the gate has greeted. Each has a bound.
//
// It sends nothing and knows no job: core/gate answers, rejects and pushes. It reads no
// clock and sets no timer: Wait says when the timer of the next push is due to be set.
//
// Source: DESIGN.md, "Gate"; docs/settings.md has the bounds.
//
// Invariants:
//
//	AUDIENCE-1 A stream watches a job once, under its newest request. A broken stream watches
//	           nothing, and neither does one whose job is gone.
//	AUDIENCE-2 Watchers, waiting requests, lookups and greetings are bounded: beyond its bound
//	           the package takes no request, and the caller rejects it.
//	AUDIENCE-3 A watcher waits for at most one push.
//
// Read ask.go, watch.go, lookup.go.
package audience
