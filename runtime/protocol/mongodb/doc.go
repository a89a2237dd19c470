// Package mongodb is the load engine's MongoDB codec: the client's side of one connection that speaks OP_MSG.
//
// It is not a driver: it owns no socket, no clock, no goroutine and no retry, watches no servers and pools no
// connections. An operation is one command with its answer; where the answer is a cursor, the operation reads
// it to its end, or so many batches of it, and then kills the cursor. TLS is below it.
// Compressed messages, transactions, change streams and reads of secondaries are not spoken.
// Source: "Wire protocol", "SCRAM" and "Find, getMore and killCursors commands" of MongoDB's manual and
// specifications; RFC 5802 and 7677 by runtime/protocol/scram.
//
// Invariants:
//
//	MONGODB-1 However the server's bytes are cut, the outcome is the same.
//	MONGODB-2 No input makes the codec panic, and what it keeps is bounded: an operation's answers by
//	          Config.AnswerMax, a greeting by codec.GreetingBytes, batches without a document by emptyMost in a row.
//	MONGODB-3 An answer belongs to the command whose number it names. Any other one ends the connection.
//	MONGODB-4 An operation is good only if its answer says ok, and neither writeErrors nor writeConcernError. Another
//	          fails alone, with the kind "server CODE".
//	MONGODB-5 An operation whose documents are not read allocates nothing once the pool is warm. An idle
//	          connection holds no buffer.
//	MONGODB-6 Nothing goes out that the server has said it would not take, by its size.
//	MONGODB-7 Nothing that Describe writes, and no error, has a password in it. A server that does not prove that it
//	          knows the password ends the greeting.
//
// Example:
//
//	protocol := mongodb.New(mongodb.Config{User: "app", Password: password, Mechanism: mongodb.SCRAMSHA256})
//	greeting := protocol.Greet(random)
//	out, used, conn, err := greeting.Hear(nil, received)
//	operation := mongodb.Find(template, mongodb.Cursor{Batch: 100})
//	err = conn.Operate(operation, mongodb.Order{Keeps: true})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome
//
// Read protocol.go, operation.go, frame.go, greeting.go; conn.go, intake.go, answer.go; fault.go, describe.go.
package mongodb
