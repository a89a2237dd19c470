// Package echo encodes the datagrams by which `hyperscale doctor` looks at a node: a question, and its answer.
//
// It opens no socket and seals nothing: runtime/transport does both. No machine sees an echo, and no message of
// core/message is one: a node that does not know echoes rejects the first byte and sends nothing.
//
// Source: house style 7.1. An echo is, in this order,
//
//	1 byte of magic, 1 byte of format, 1 byte of kind
//	8 bytes of a digest of protocol version, cluster and environment
//	8 bytes of a nonce
//	in an answer: two clocks, the node's role, its name, its set; where they have room 16 bytes of its two leases, and behind them its sinks
//	zeros, up to the size of the question
//
// Invariants:
//
//	ECHO-1 An answer has as many bytes as its question, so that a forged source gains nothing, and both
//	       directions carry the size that the question tries.
//	ECHO-2 Decoding reads no byte beyond its input, and takes no memory for what is not there.
//
// Read echo.go.
package echo
