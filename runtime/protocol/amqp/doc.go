// Package amqp is the load engine's codec of AMQP 0.9.1, as RabbitMQ speaks it: the client's side of one
// connection, with one channel, or as a codec.Trunk with one of each of its exchanges.
//
// It is not a client: it owns no socket, no clock, no goroutine and no retry, and reconnects to nothing. An
// operation is one message that goes out, confirmed or not, one that is fetched from a queue, or the
// declaration of a queue and an exchange. A consumer receives in place of operations.
// Source: the AMQP 0-9-1 specification with its generated reference, and RabbitMQ's extensions: confirms,
// basic.nack, connection.blocked, consumer cancel notification, authentication failure close. The client
// asks for no heartbeats: the loop's timeouts are what ends a silent connection.
//
// Invariants:
//
//	AMQP-1 However the server's bytes are cut, the outcome is the same.
//	AMQP-2 No input makes the codec panic, and what it keeps is bounded: a message by Config.MessageMax, a
//	       frame by what was negotiated, tables by their depth, idleMost frames in a row that carry nothing.
//	AMQP-3 A confirm belongs to the publication whose number it has. One that no open publication waits for
//	       is counted and ends nothing.
//	AMQP-4 An error of the server fails the operation that is open, with the kind "server CODE". One that
//	       comes when none is, is counted. Behind an error of the channel the next operation opens it anew.
//	AMQP-5 A message counts as sent when the kernel has its last byte, and never otherwise.
//	AMQP-6 While the server has blocked its publishers, no publication goes out.
//	AMQP-7 A message whose operation was given up goes back to its queue, unless it needs no
//	       acknowledgement: then it is counted.
//	AMQP-8 An error and what Describe writes hold no password.
//	AMQP-9 An error of a channel ends what is open on that one. What names no message and is given up ends with
//	       its channel, which opens anew when the server has agreed to its end.
//
// Example:
//
//	protocol, err := amqp.New(amqp.Config{User: "app", Password: password, Host: "/"})
//	greeting := protocol.Greet()
//	out, used, conn, err := greeting.Hear(nil, received)
//	operation := amqp.Publication(amqp.Message{Key: amqp.Plain("jobs"), Body: amqp.Plain("hi"), Confirm: true})
//	err = conn.Operate(operation, amqp.Order{Sent: &sent})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome
//
// Read methods.go, arguments.go, table.go, properties.go; protocol.go, operation.go, greeting.go; conn.go,
// trunk.go, channel.go, intake.go; fault.go, describe.go.
package amqp
