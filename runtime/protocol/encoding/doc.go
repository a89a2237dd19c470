// Package encoding makes the body of a response of what was sent: it undoes
// Content-Encoding.
//
// It is not on the way of a response: nothing is decoded before somebody reads the
// body, and what is counted are the bytes on the wire.
//
// Source: RFC 9110, 8.4 (content codings), RFC 1950 to 1952, 7932, 8878, and 9659 for
// the window of zstd. Decoders are klauspost/compress and andybalholm/brotli.
//
// Invariants:
//
//	ENCODING-1 What comes out has at most the limit's bytes, and a decoder at most its window
//	           beside them; what would have more is KindBomb.
//	ENCODING-2 Never a panic; what no decoder understands is KindEncoding, and so is a body
//	           that ends too early.
//	ENCODING-3 Decoders are kept for the next body and hold nothing of the last.
//
// Read decode.go, decoders.go.
package encoding
