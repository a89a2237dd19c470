// Package raw has TCP servers that behave badly, each in one way, towards an exchange of bytes.
//
// The catalogue is a table: what the client sends and how its answer ends, what the server does with
// the question "one", and how the exchange must end. Towards the question "two", which comes next and
// often on another connection, every server behaves well: it repeats it. So a client that takes bytes
// of the first exchange for the answer of the second is found in each entry.
//
// Invariant:
//
//	HOSTILE-RAW-1 A server ends when its connections do, so that a test may wait for it.
//
// Example:
//
//	s, err := raw.Serve(entry)
//	workflow := `tcp.exchange("` + s.URL + `", send = "one\n", receive = ` + entry.Receive + `)`
//
// Read entry.go, server.go.
package raw
