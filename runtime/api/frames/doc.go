// Package frames is how a question and its answers travel as a body of HTTP: a length of four bytes, then the
// catalogue's encoding (core/message). A length of zero is a beat: the sender lives and has nothing to say.
//
// It knows no HTTP and no question: runtime/api answers them, and runtime/api/remote asks.
//
// Source: docs/api.md, "Frames".
//
// Invariants:
//
//	FRM-1 A reader allocates for a length only once that is within message.FrameMax.
//	FRM-2 What is cut short, too long or no frame is an error. Only an end between two frames is io.EOF.
//
// Read frames.go.
package frames
