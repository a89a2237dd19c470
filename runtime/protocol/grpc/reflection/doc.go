// Package reflection asks a gRPC server what it serves: its services, and the descriptors of them
// with all that they import.
//
// It sends nothing: its user calls the method that Next names, and gives the answer to Take.
// runtime/ping does so over a connection of its own. It follows grpc.reflection.v1 and its older
// name v1alpha, whose messages are equal; each question is a call of its own.
//
// Invariants:
//
//	REFL-1 No answer makes it panic, and no server makes it ask for ever: names, files and bytes
//	       have bounds, and it asks for a name once.
//	REFL-2 The same files make the same set, in whatever order they come: it is sorted by name,
//	       and has no comments and places of a source.
//	REFL-3 A set lacks no file that one of its files imports, except google/protobuf/*.
//
// Example:
//
//	t := reflection.New(reflection.Of{Files: true})
//	for method, question, more := t.Next(); more; method, question, more = t.Next() {
//		answer, err := call(method, question)
//		err = t.Take(answer, isUnimplemented(err))
//	}
//	set, files := t.Set()
//
// Read talk.go, set.go.
package reflection
