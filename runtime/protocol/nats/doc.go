// Package nats is the load engine's NATS codec: the client's side of one connection.
//
// A connection carries one operation at a time, or as a codec.Trunk one of each of its exchanges.
//
// It is not a client: it owns no socket, no clock, no goroutine and no retry, follows no list of servers
// and reconnects to none. An operation is one message that goes out: a request whose reply ends it, a
// publication that JetStream acknowledges, one that a PONG confirms, or one that nothing does.
// Source: the client protocol of docs.nats.io, ADR-4 for headers, ADR-39 for keys.
//
// Invariants:
//
//	NATS-1 However the server's bytes are cut, the outcome is the same.
//	NATS-2 No input makes the codec panic, and what it keeps is bounded: a message by Config.MessageMax,
//	       a line by lineMost, header fields by fieldsMost, idleMost control lines in a row.
//	NATS-3 A reply belongs to the request whose number stands in its subject. A reply that no open request
//	       waits for is dropped and counted, and ends nothing.
//	NATS-4 An error of the server fails the operation that caused it, with the kind "server TEXT"; of a trunk
//	       the oldest one that has sent to its subject. One that no open operation caused is counted.
//	NATS-5 A message counts as sent when the kernel has its last byte, and never otherwise.
//	NATS-6 Nothing goes out that exceeds the server's max_payload, or whose subject the server would cut.
//	NATS-7 An error and what Describe writes hold no password, token, seed or signature.
//	NATS-8 A consumer has one request for messages open at a time, and what a server says of others ends
//	       none. Each settlement counts when the kernel has it.
//
// Example:
//
//	protocol, err := nats.New(nats.Config{User: "app", Password: password})
//	greeting := protocol.Greet(random)
//	out, used, conn, err := greeting.Hear(nil, received)
//	operation := nats.Compile(nats.Message{Verb: nats.Request, Subject: nats.Plain("svc.echo"), Data: nats.Plain("hi")})
//	err = conn.Operate(operation, nats.Order{Keeps: true, Sent: &sent})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome
//
// Read protocol.go, nkey.go, operation.go, greeting.go; conn.go, places.go, asked.go, intake.go, fields.go; pull.go;
// fault.go, describe.go.
package nats
