// Package session has the values with which functions hold an open session: a WebSocket, a stream of server-sent events,
// a subscription of Redis, NATS or MQTT, a consumer of RabbitMQ, a call of gRPC, or a transaction of a database. A protocol whose sides send messages when
// they like gets its functions here.
//
// It is no connection: the engine's Link has that, and only its methods wait.
//
// Invariants:
//
//	SESSION-1 A session belongs to the virtual user that opened it; others get an error that says so.
//	SESSION-2 What a function receives is charged to its call, as the body of an answer is.
//	SESSION-3 A session that is over answers each call at once: send with False, receive with the error
//	          closed, close with the response of the whole.
//	SESSION-4 A transaction sends one request at a time, and none once it is over.
//	SESSION-5 A message is settled once, by the session that received it.
//
// Example:
//
//	v := session.New("vu.websocket", link, owner, session.Socket)
//	... ws.send("hello"); m = ws.receive(timeout = "1s"); return ws.close() ...
//
// Read kind.go, link.go, message.go, value.go, settle.go; transaction.go.
package session
