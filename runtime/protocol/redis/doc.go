// Package redis is the load engine's Redis codec: the client's side of one connection that speaks
// RESP2 or RESP3.
//
// It is not a client: it owns no socket, no clock, no goroutine and no retry, follows no
// redirection, and subscribes to nothing. An operation is a command or a pipeline of commands.
// Its answers are counted, checked and dropped; where they are read, they become JSON.
// Source: the RESP specification of redis.io, and RESP3 for attributes and streamed types.
//
// Invariants:
//
//	REDIS-1 However the server's bytes are cut, the outcome is the same.
//	REDIS-2 No input makes the codec panic, and what it keeps is bounded: an operation's answers by
//	        Config.AnswerMax, a line by lineMost, nesting by depthMost, idleMost pushes and
//	        attributes in a row.
//	REDIS-3 An answer belongs to the oldest operation without one. A push belongs to none. An
//	        answer that no operation waits for ends the connection.
//	REDIS-4 An error of the server fails its operation alone, with the kind "server CODE".
//	REDIS-5 An operation whose answers are not read allocates nothing once the pool is warm. An
//	        idle connection holds no buffer.
//	REDIS-6 A command counts as sent when the kernel has its last byte, and never otherwise.
//	REDIS-7 Nothing that Describe writes, and no error, has a password in it.
//
// Example:
//
//	protocol := redis.New(redis.Config{User: "app", Password: password})
//	greeting := protocol.Greet() // if protocol.Greets()
//	n, err := socket.Write(greeting.Begin(nil))
//	out, used, conn, err := greeting.Hear(nil, received)
//	operation := redis.Compile([]redis.Command{{redis.Text("GET"), redis.Text("k")}})
//	err = conn.Operate(operation, redis.Order{Keeps: true, Sent: &sent})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome
//
// Read protocol.go, operation.go, greeting.go; conn.go, outbox.go, pool.go; intake.go, value.go,
// view.go; fault.go, describe.go.
package redis
