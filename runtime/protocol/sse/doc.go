// Package sse reads server-sent events: text/event-stream.
//
// It is no client: it does not reconnect, keeps no time and no last event but its id. It does not know
// what carries the bytes: runtime/engine gives it the body of an answer, as it comes over any
// version of HTTP.
//
// Source: the HTML standard, "Server-sent events", 9.2.5 and 9.2.6. It departs from it in one point:
// an event has a limit, since a server may send a line without end.
//
// Invariants:
//
//	SSE-1 However the bytes are cut, the listener hears the same, and the error is the same.
//	SSE-2 An event without its blank line is not reported, nor is one without a data field.
//	SSE-3 A parser that keeps nothing uses the same memory for any stream; else at most an event's
//	      limit, and a length of its bytes.
//	SSE-4 Once the listener has enough it hears nothing more, also of what was read with that event.
//
// Example:
//
//	p := sse.Parser{Keep: true}
//	enough, err := p.Feed(piece, listener)
//
// Read head.go, parser.go.
package sse
