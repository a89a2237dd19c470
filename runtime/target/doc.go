// Package target is the server that load tests are tried against: `hyperscale target`.
//
// It is not a web server: it has no files, no routing table and no handler interface. One
// epoll loop answers plain HTTP/1.1; with TLS each connection has a goroutine, and both
// drive the same session. HTTP/2 is chosen by the client, by ALPN or (without TLS too) by
// prior knowledge; net/http serves it, by the same routes, options and counters. Command line
// and semantics: the manual of `hyperscale target`.
//
// Endpoints; each other path answers like "/":
//
//	ANY  /          200, Size bytes of text
//	POST /login     {"user":"u1"} -> {"token":"..."}
//	GET  /me        Authorization: Bearer <token> -> {"user":"u1"}, else 401
//	GET  /json      a small JSON object
//	GET  /redirect  302 to /
//	GET  /form      a page with a hidden csrf, which POST /form wants: 201 and a Location, else 403
//	GET  /cookie    sets the cookie session=target
//	POST /graphql   {"query":...,"variables":{"name":"bo"}} -> {"data":{"user":{"id":"1","name":"bo"}}};
//	                a query of "missing" has errors
//	ANY  /events    four server-sent events, of which the last one's data is [DONE]
//	TCP  --tcp      bytes go back as they came; lines count as messages
//	UDP  --udp      each datagram goes back as it came, and counts as a message
//	GET  /ws        WebSocket over HTTP/1.1: each frame goes back as it came, up to 64 KiB
//	ANY  /digest    200 for user "user" with password "pass" by digest authentication, else 401: SHA-256,
//	                at /digest-md5 MD5; a nonce serves 100 requests, then it is stale
//	GET  /__stats   the counters; POST /__reset sets them to zero; neither is counted
//
// Invariants:
//
//	TARGET-1 A request counts once, when its last byte was read and all is valid, even if no
//	         client waits for the answer by then. Over HTTP/2 a second reader of the same bytes
//	         counts, as the library drops streams that were reset before their turn. A response
//	         counts, with its bytes, when the kernel has taken its last byte. So requests minus
//	         responses is what was closed, stalled, or is still on its way. Over HTTP/2 the
//	         kernel must have taken all but the end of its stream. Bytes are those of the
//	         connection, frames and all; what is closed is the stream.
//	TARGET-2 Every N-th counts all counted requests. Close, stall and error may meet. Then a stall
//	         beats a close, a close beats an error, and an error may follow a stall.
//	TARGET-3 Nothing that a peer sends is kept beyond a bound: a head, pipelined bytes, one
//	         login, the counts of 65,536 nonces; every state of a connection has a deadline.
//	TARGET-4 Between requests a connection keeps no buffer but that of one short path.
//
// Read config.go, request.go, session.go, respond.go, routes.go, talk.go, digest.go, stats.go, server.go,
// loop.go, connection.go, secure.go, http2.go, intake.go, echo.go, packets.go.
package target
