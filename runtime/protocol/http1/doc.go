// Package http1 is the load engine's HTTP/1.1 client codec: it turns a request
// into bytes once, and bytes into a response many times.
//
// It is not a client: it owns no socket, no clock, no goroutine, no retry and no cookie jar,
// and it decompresses nothing. It follows RFC 9110 and RFC 9112. Where they leave a choice it
// takes the one that cannot confuse two responses.
//
// Invariants:
//
//	HTTP1-1 However the bytes of a response are cut, the outcome is the same.
//	HTTP1-2 No input makes the parser panic. It keeps a head of MaxHeadBytes and MaxHeadLines,
//	        a chunk line of MaxChunkLine, a body of the collector's limit, each at most.
//	        Without a collector it keeps no body.
//	HTTP1-3 A response that arrived whole in one buffer allocates nothing.
//	HTTP1-4 A connection is reusable only if the response said so, gave its length in one
//	        way, and no byte followed it.
//	HTTP1-5 Every error has a Kind of a closed set; the engine groups by it.
//	HTTP1-6 Any values that fill a request leave it one request, and each is read back from
//	        its own place. The template escapes a value, or rejects it where no escape exists.
//
// Example:
//
//	call, err := http1.Request{Method: "GET", URL: "http://127.0.0.1:8080/"}.Compile()
//	var p http1.Parser
//	p.Reset(call.Method)
//	n, done, err := p.Feed(received)
//
// Read kind.go, request.go, request_fields.go, insert.go, template.go, escape.go, parser.go, memo.go, field.go, chunks.go, collector.go.
package http1
