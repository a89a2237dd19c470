// Package codectest holds a second codec for tests: HTTP/1.1 as a Conn that carries one request
// at a time, with no answer that names its request. It proves that the loop and the contract
// of runtime/protocol/codec depend on no property of HTTP/2.
//
// It is not for production: HTTP/1.1 has its own path in runtime/engine/pool.
//
// Example:
//
//	g.protocol = codectest.Ordered{}
//
// Read ordered.go.
package codectest
