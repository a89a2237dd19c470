// Package rpc makes requests of gRPC calls, and reads their answers.
//
// A call is a POST over HTTP/2, which runtime/engine/pool carries as it does any other request. What
// a call adds is its messages, which stand in the body, and its status, which comes behind the body.
// Messages are encoded once, before the clock, unless they have values; an answer is decoded when a
// check, a value or a function reads it.
//
// Invariants:
//
//	RPC-1 A call whose answer is not whole, or has no status, is never good.
//	RPC-2 A status other than OK is the failure "server STATUS", unless the step's code() accepts it.
//	RPC-3 A message of a streaming call counts once: sent when the kernel has the whole request,
//	      received when its last byte was read.
//
// Example:
//
//	err := rpc.Compile(&out, request, timeout)
//	reading.Begin(request, slot, clock, most, due)
//	slot.Tap = reading
//	verdict := reading.End(status, collector, size)
//
// Read compile.go, reading.go, session.go, decode.go.
package rpc
