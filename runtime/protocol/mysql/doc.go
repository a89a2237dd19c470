// Package mysql is the load engine's MySQL codec: the client's side of one connection to MySQL or
// MariaDB.
//
// It is not a client: it owns no socket, no clock, no goroutine and no retry. An operation is a
// statement, several in one round trip, or a transaction, which asks statement by statement so that
// none runs behind one that failed. A connection prepares a statement when it uses it first: that is
// a round trip more. Rows are counted, checked and dropped; where they are read, they become JSON.
// Compression, LOCAL INFILE, cursors and replication are not spoken.
// Source: "Client/Server Protocol" of the manuals of MySQL and MariaDB.
//
// Invariants:
//
//	MYSQL-1 However the server's bytes are cut, the outcome is the same.
//	MYSQL-2 No input makes the codec panic, and what it keeps is bounded: an operation's answer by
//	        Config.AnswerMax, columns by columnsMost, statements by preparedMost, results without
//	        rows by resultsMost in a row.
//	MYSQL-3 An answer belongs to the oldest command without one, and its packets count from 1. What no
//	        command waits for ends the connection; the server's file request does, too.
//	MYSQL-4 An error of the server fails its operation alone, with the kind "server NUMBER". One with
//	        which the server ends connections ends the connection, too.
//	MYSQL-5 An operation whose rows are not read allocates nothing once the pool is warm. An idle
//	        connection holds no buffer.
//	MYSQL-6 While some of an operation is not queued, Owes says so: it counts as sent when the kernel
//	        has its last byte.
//	MYSQL-7 Nothing that Describe writes, and no error, has a password in it. Without TLS no
//	        password goes out in clear.
//	MYSQL-8 A transaction commits only if the server has acknowledged each of its statements.
//
// Example:
//
//	protocol := mysql.New(mysql.Config{User: "app", Database: "shop", Password: password})
//	greeting := protocol.Greet()
//	answer, used, conn, err := greeting.Hear(nil, received)
//	operation := mysql.Compile(mysql.ModePrepared, []mysql.Statement{{Text: "select 1"}}, false)
//	err = conn.Operate(operation, mysql.Order{Keeps: true})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome
//
// Read protocol.go, packet.go, operation.go; greeting.go, proof.go, ed25519.go; conn.go, outbox.go, pool.go;
// intake.go, answer.go, row.go, view.go; fault.go, describe.go.
package mysql
