// Package wire is one connection of an output to a server, by a codec of the load engine: it dials, begins TLS, carries the
// greeting to its end, and asks one operation at a time.
//
// It knows no protocol and retries nothing: a kind queues operations, and says what their outcome means.
//
// Source: runtime/protocol/codec, whose dialogues the load engine drives on its loop; here a goroutine of a sink waits for each.
//
// Invariants:
//
//	WIRE-1 Nothing outlives its context: an operation whose time is over ends with an error, and its connection is closed.
//	WIRE-2 Ask says whether bytes of the operation went out: if none did, the server has none of it.
//
// Example: conn, err := wire.Connect(ctx, "127.0.0.1:6379", nil, codec.Opening{Greeting: protocol.Greet()}).
//
// Read conn.go.
package wire
