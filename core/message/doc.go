// Package message is the catalogue of everything that crosses a wire: plain
// structs, each with a kind, a class and a priority, and one generated codec.
//
// It decides nothing: who may send what, and what happens then, is the roles'.
// Transport (length prefix, handshake, deadlines) is runtime/transport's.
//
// Source: DESIGN.md, "The wire". The codec is tinylib/msgp with named fields;
// cmd/catalogue generates, from the same structs, the exact Size and Digest,
// the check for required fields and the registry of kinds.
//
// Invariants:
//
//	MSG-1 Decode never panics and allocates at most a constant times its input.
//	MSG-2 decode(encode(m)) == m; Size(m) == len(encode(m)); Digest is equal on
//	      both sides.
//	MSG-3 Unknown fields are skipped, missing optional ones are zero, a missing
//	      required one is an error that names it. A required field's zero value has
//	      no meaning.
//	MSG-4 A kind's number is never used again for something else. The golden corpus
//	      in testdata/golden holds one encoding of each. 3, 4, 5 and 8 are reserved
//	      for package toy, whose messages no frame carries.
//	MSG-5 A message, once sent, is never changed.
//
// To add a message: write the struct with a directive
//
//	//catalogue:message kind=99 class=dispatch priority=high
//
// above it, run `make generate`, run the tests with -rewrite once.
//
// Read ids.go, frame.go, then client.go, datacenter.go, share.go, shard.go, exec.go.
package message
