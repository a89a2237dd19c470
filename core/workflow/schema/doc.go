// Package schema reads what messages of gRPC look like, and turns JSON into them and back.
//
// A Schema comes from .proto files or from a descriptor set; it names services, whose methods have
// a type for what goes out and one for what comes. Nothing runs beside: of protocompile it calls
// the parser, the linker and the options in sequence, and not its Compiler.
//
// A message without values is bytes at once. One with values is a Template: bytes with places, and
// lengths that are known when it is filled.
//
// Invariants:
//
//	SCHEMA-1 No file makes it panic, and what it reads is bounded by its files.
//	SCHEMA-2 A Template that is filled is the message that its JSON with the same values is.
//	SCHEMA-3 A value stands where its type allows: a text that is no number does not fill a number.
//	SCHEMA-4 The same files and the same JSON have the same bytes everywhere.
//
// Example:
//
//	s, err := schema.Proto("shop.proto", read)
//	m, err := s.Method("shop.v1.Orders/Get")
//	t, err := m.Compile([]byte(`{"id": "7"}`), nil)
//	b, err := t.Append(nil, nil)
//
// Read schema.go, proto.go, template.go, fill.go.
package schema
