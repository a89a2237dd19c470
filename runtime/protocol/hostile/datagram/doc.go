// Package datagram has UDP servers, and networks, that behave badly, each in one way, towards an
// exchange of datagrams.
//
// The catalogue is a table: how the client asks, what the server does with the question "one", how the
// exchange must end, and what must be counted beside it. Towards the question "two", which comes next,
// every server behaves well: it repeats it. So a client that takes datagrams of the first exchange for
// the answer of the second is found in each entry.
//
// Invariant:
//
//	HOSTILE-DATAGRAM-1 A server counts each datagram that it has sent to its client's socket, so that a
//	                   test may hold it against what the client accounts for.
//
// Example:
//
//	s, err := datagram.Serve(entry)
//	workflow := `udp.exchange("` + s.URL + `", send = "one"` + entry.Args + `)`
//
// Read entry.go, server.go.
package datagram
