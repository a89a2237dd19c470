// Package pubsub is the load engine's side of one connection that subscribes to a Redis server.
//
// It is not a client: it owns no socket, no clock, no goroutine, and subscribes anew to nothing. The
// greeting before it is that of runtime/protocol/redis. It publishes nothing: PUBLISH is a command.
// Source: the Pub/Sub page of redis.io, and RESP3 for pushes.
//
// Invariants:
//
//	PUBSUB-1 However the server's bytes are cut, the outcome is the same.
//	PUBSUB-2 No input makes the codec panic, and what it keeps is bounded: a frame by the largest
//	         message and a little more, idleMost frames in a row that carry none. A length that
//	         the server announces reserves nothing.
//	PUBSUB-3 A message is reported if its channel, or its pattern, is one that was asked for. Any
//	         other one ends the connection.
//	PUBSUB-4 The subscription stands when the server has confirmed each name, in order. It is over
//	         when the server has confirmed the end of each: no message follows that.
//	PUBSUB-5 A command counts as sent when the kernel has its last byte, and never otherwise.
//
// Example:
//
//	names := pubsub.NewNames([]string{"news"}, nil, nil)
//	conn := pubsub.New(names, 1<<20)
//	conn.Subscribe(&sent)
//	err := conn.Feed(received, listener) // MessageStands, then messages: see conn.From
//	conn.Unsubscribe()                   // Leaves follows
//
// Read names.go, conn.go, frame.go.
package pubsub
