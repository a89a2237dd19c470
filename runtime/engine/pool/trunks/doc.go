// Package trunks carries the exchanges of many users on one connection at once: it gives each an id, and knows
// which of them are queued, written and answered.
//
// It opens, reads and writes nothing: it is a codec.Conn over the dialogue of a protocol, and the loop asks it
// as it asks HTTP/2. It knows no time and no user: a tag names an exchange.
//
// Source: DESIGN.md, "Execution".
//
// Invariants: CODEC-1 to CODEC-5 of runtime/protocol/codec, where an exchange is an operation, and
//
//	TRUNKS-1 What exchanges say goes out in the order in which they were opened.
//	TRUNKS-2 An exchange that asks for nothing ends when the kernel has all of it, and not before.
//	TRUNKS-3 The end of a connection fails the exchanges whose answer had not come, and no other.
//
// Example:
//
//	t := trunks.New(dialogue, nil, carrier)
//	id := t.Open(nil, tag, &sent) // the carrier says what the exchange says
//	err := t.Feed(received, handler)
//
// Read trunks.go.
package trunks
