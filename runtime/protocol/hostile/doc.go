// Package hostile is a catalogue of servers that are hostile, broken, or odd but
// right, for tests of HTTP/1.1, HTTP/2 and TLS clients.
//
// It is not a fuzzer (runtime/protocol/http1 has one, and this package's own test
// spoils the catalogue's answers at random) and no load target (runtime/target is).
// It follows RFC 9110, 9112, 9113, 7541 and 8446, and what other clients got wrong.
//
// Each entry is one behaviour and what a client must conclude from it: the kind of failure or
// the status, the length of the body, and whether the connection is reusable. A server plays
// its entry once and behaves well afterwards, so that the same run shows whether the next
// request is right. A mix stays hostile.
//
// Invariants:
//
//	HOSTILE-1 Nothing that a test concludes depends on how fast the machine is. A client
//	          needs its deadline only for entries whose Want is Late.
//	HOSTILE-2 A server never reads or writes beyond Close, and Close leaves nothing.
//	HOSTILE-3 Every request that reached the server is counted, whatever became of it.
//
// Example:
//
//	for _, e := range hostile.All() {
//		s, err := hostile.Start(&e)
//		... ask s.URL() until s.Proved() is closed, compare with e.Want ...
//		s.Close()
//	}
//
// Read entry.go, session.go, server.go, address.go; the families of the catalogue: heads.go,
// lengths.go, statuses.go, connections.go, bodies.go, redirects.go, secure.go, corners.go. HTTP/2,
// where an entry is about several requests at once on one connection: http2server.go,
// frames.go; its families are http2.go, http2heads.go, http2flows.go, http2endings.go,
// http2corners.go. catalogue.go puts the families together; authority has the certificates, forge
// the records that no library sends, port the connections of each server.
package hostile
