// Package flood is clients that obey nothing: a thousand connections to gates that send requests,
// garbage and halves of frames, whatever is answered.
//
// It measures nothing of the gates but their answers. Everything that it sends it makes before,
// so that it costs the machine less than the gates that it floods.
//
// Invariants:
//
//	FLOOD-1 A connection that ends opens again, until the context ends. Run returns after the
//	        last has ended.
//	FLOOD-2 Sent counts frames, and Answers counts answers by their kind and code.
//
// Read flood.go, then client.go.
package flood
