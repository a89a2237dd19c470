// Package toy holds the messages of test machines.
//
// It is not a part of the catalogue: no frame carries a toy, and message.Decode
// rejects its kind as unknown. Tests and scenarios alone import it.
//
// A toy keeps the kind, the size and the digest that it had while the catalogue
// listed it. The traces of worlds depend on all three.
//
// Invariants:
//
//	TOY-1 The catalogue has no message of a toy's kind.
//	TOY-2 A toy holds values only, so that Copy shares no memory.
//
// Read toy.go.
package toy
