// Package encoding undoes Content-Encoding: it makes a response's body from the bytes sent.
//
// It is not on the path of every response. It decodes a body only when a function or a check
// reads it. The engine counts the bytes on the wire.
//
// Source: RFC 9110, 8.4 (content codings), RFC 1950 to 1952, 7932, 8878, and 9659 for
// the window of zstd. Decoders are klauspost/compress and andybalholm/brotli.
//
// Invariants:
//
//	ENCODING-1 A decoded body has at most the limit's bytes, and a decoder at most its window
//	           beside them. A larger one is KindBomb.
//	ENCODING-2 No bytes make it panic. KindEncoding means that no decoder understands the
//	           bytes, or that the body ends too early.
//	ENCODING-3 Decoders serve the next body and hold nothing of the last.
//
// Read decode.go, decoders.go.
package encoding
