// Package grpc reads and writes what gRPC adds to HTTP/2: messages behind a head of five bytes, and
// a status in the trailers.
//
// It knows no frame of HTTP/2, which runtime/protocol/http2 carries, and no schema, which is
// core/workflow/schema. It follows the protocol document of gRPC (PROTOCOL-HTTP2.md).
//
// Invariants:
//
//	GRPC-1 However the bytes that a Reader takes are cut, it counts and keeps the same.
//	GRPC-2 No input makes it panic. A length that a head tells reserves no memory before its bytes
//	       have come, and what is kept is bounded by Most.
//	GRPC-3 A message counts once, when its last byte has come.
//	GRPC-4 An answer has a verdict: its status, or why it is none. Without a status in the trailers
//	       it is never good.
//
// Example:
//
//	var r grpc.Reader
//	r.Begin(most, keeps)
//	err := r.Feed(piece)
//	code, why, err := grpc.Verdict(200, fields, trailersAt, r.End())
//
// Read status.go, reader.go, verdict.go, frame.go.
package grpc
