// Package request describes HTTP requests and the client that sends them: the words
// http.get and its like, http.client, dns, tls, graphql.query, sse.read,
// websocket.exchange.
//
// It sends nothing. A described request is plain data; runtime/engine compiles it.
//
// Source: docs/workflows.md; RFC 9110, 7578, 8446.
//
// Invariants:
//
//	REQ-1 A placeholder ${name} becomes a word that stands nowhere else in the program.
//	REQ-2 What is wrong with a request is found when the file loads, but for what
//	      functions make.
//
// An example:
//
//	members := request.Requester("http", nil, nil, use)
//
// Read request.go, file.go, http.go, placeholder.go, multipart.go, reveal.go, graphql.go, stream.go, socket.go, sql.go,
// transaction.go; then
// client.go, auth.go, secure.go, network.go.
package request
