// Package websocket is a catalogue of WebSocket servers that are hostile, broken, or odd but
// right, for tests of the codec and of the engine. A client asks each of them for an exchange: one
// message out, one message in.
//
// It is not the codec (runtime/protocol/websocket is), and it shares no code with that: what it
// reads and writes follows RFC 6455 and RFC 7692 on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A server plays its entry
// once, on its first connection, and behaves well afterwards, so that the same run shows whether
// the next exchange is right.
//
// Invariants:
//
//	HOSTILEWS-1 Nothing that a test concludes depends on how fast the machine is. A client needs its
//	            deadline only for entries whose Want is Late.
//	HOSTILEWS-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILEWS-3 Every upgrade and every message that reached the server is counted. What the client
//	            itself does against the RFC is in Breach.
//
// Example:
//
//	for _, e := range websocket.All() {
//		s, err := websocket.Start(&e)
//		... exchange with s.URL() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, frames.go, session.go, server.go; the families of the catalogue: greetings.go,
// messages.go, goodbyes.go, odd.go.
package websocket
