// Package message is the catalogue of everything that crosses a wire: plain structs and one
// generated codec. Each struct has a kind, a class and a priority, and says what a
// full lane does with it, who sends it, and since which minor version.
//
// It decides nothing: roles decide which message to send and how to act on one.
// runtime/transport adds length prefix, handshake and deadlines.
//
// Source: DESIGN.md, "Messages". tinylib/msgp generates the codec, with named fields.
// cmd/catalogue generates from the same structs the exact Size and Digest, the check for
// required fields and the registry of kinds.
//
// Invariants:
//
//	MSG-1 Decode never panics and allocates at most a constant times its input.
//	MSG-2 decode(encode(m)) == m; Size(m) == len(encode(m)); Digest is equal on
//	      both sides.
//	MSG-3 Decode skips unknown fields and leaves missing optional ones zero. It rejects a
//	      message without a required field by that field's name. A required field's zero
//	      value has no meaning.
//	MSG-4 A kind's number never gets a second meaning. testdata/golden holds one encoding
//	      of each kind. 3, 4, 5 and 8 are reserved for package toy, whose messages no
//	      frame carries.
//	MSG-5 A message never changes once it is sent.
//	MSG-6 Decode tells a sound frame of an unknown kind from bytes that are no frame.
//
// To add a message: write the struct with a directive
//
//	//catalogue:message kind=99 class=dispatch priority=high full=refuse from=gate since=1 stub=Job
//
// above it, run `make generate`, run the tests with -rewrite once.
//
// Read ids.go, frame.go, then client.go, datacenter.go, shard.go, exec.go.
package message

//go:generate go run ../../cmd/catalogue -dir .
