// Package redis is a catalogue of Redis servers that are hostile, broken, or odd but right, for
// tests of the codec and of the engine. A client asks each of them for an operation: GET of a key.
//
// It is not the codec (runtime/protocol/redis is), and it shares no code with that: what it reads
// and writes follows the RESP specification on its own.
//
// Each entry is one behaviour and what a client must conclude from it. A server plays its entry
// once, on its first connection, and behaves well afterwards, so that the same run shows whether
// the next operation is right.
//
// Invariants:
//
//	HOSTILEREDIS-1 Nothing that a test concludes depends on how fast the machine is. A client
//	               needs its deadline only for entries whose Want is Late.
//	HOSTILEREDIS-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILEREDIS-3 Every command that reached the server whole is counted. What the client itself
//	               does against RESP is in Breach.
//
// Example:
//
//	for _, e := range redis.All() {
//		s, err := redis.Start(&e)
//		... ask s.Address() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, session.go, server.go; the families of the catalogue: greetings.go, answers.go,
// limits.go, odd.go; subscriptions.go: servers that sessions subscribe to.
package redis
