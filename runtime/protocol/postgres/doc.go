// Package postgres is the load engine's PostgreSQL codec: the client's side of one connection that
// speaks version 3 of the protocol.
//
// It is not a client: it owns no socket, no clock, no goroutine and no retry. An operation is a
// statement, or several in one round trip. A connection prepares a statement in the write that
// uses it first. Rows are counted, checked and dropped; where they are read, they become JSON. A greeting
// that begins with TLS is a codec.Securer.
// LISTEN, replication and GSSAPI are not spoken.
// Source: "Frontend/Backend Protocol" of PostgreSQL's manual; RFC 7677 by runtime/protocol/scram.
//
// Invariants:
//
//	POSTGRES-1 However the server's bytes are cut, the outcome is the same.
//	POSTGRES-2 No input makes the codec panic, and what it keeps is bounded: an operation's answer by
//	           Config.AnswerMax, columns by columnsMost, statements by preparedMost, messages that
//	           answer nothing by idleMost in a row.
//	POSTGRES-3 Answers belong to the oldest open operation, in the order that the protocol gives
//	           them. What no operation waits for ends the connection.
//	POSTGRES-4 An error of the server fails its operation alone, with the kind "server SQLSTATE". One
//	           that is FATAL ends the connection, too.
//	POSTGRES-5 An operation whose rows are not read allocates nothing once the pool is warm. An idle
//	           connection holds no buffer.
//	POSTGRES-6 An operation counts as sent when the kernel has its last byte, and never otherwise.
//	POSTGRES-7 Nothing that Describe writes, and no error, has a password in it. Without TLS no
//	           password goes out in clear, and no server ends SCRAM without its own proof. Where TLS is
//	           asked for nothing is said in clear but the question.
//	POSTGRES-8 A connection takes a statement for prepared only if the server has acknowledged it or
//	           will, ahead of its use.
//
// Example:
//
//	protocol := postgres.New(postgres.Config{User: "app", Database: "shop", Password: password})
//	greeting := protocol.Greet(random)
//	n, err := socket.Write(greeting.Begin(nil))
//	out, used, conn, err := greeting.Hear(nil, received) // Secures: TLS comes next
//	operation := postgres.Compile(postgres.ModePrepared, []postgres.Statement{{Text: "select 1"}}, false)
//	err = conn.Operate(operation, postgres.Order{Keeps: true, Sent: &sent})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome
//
// Read protocol.go, operation.go, greeting.go; conn.go, outbox.go, pool.go; intake.go, answer.go,
// row.go, view.go; fault.go, describe.go.
package postgres
