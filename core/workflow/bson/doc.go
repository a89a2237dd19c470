// Package bson turns extended JSON into BSON, and BSON into JSON.
//
// It is not a mapper of types, and it does not know MongoDB's commands: a document is bytes, and its fields
// stand in the order in which they were written. A document without values is bytes at once. One with values is
// a Template: bytes with places, and lengths that are known when it is filled.
//
// Source: bsonspec.org; "Extended JSON (v2)" of MongoDB's specifications: it reads canonical and relaxed
// texts, and writes relaxed ones. It departs from them where JSON has no name twice: BSON may have.
//
// Invariants:
//
//	BSON-1 No bytes make it panic, and Check takes time in proportion to them: documents nest DepthMost deep.
//	BSON-2 A Template that is filled is the document that its text with the same values is.
//	BSON-3 A value stands where its type allows: a text that is no number does not fill a number.
//	BSON-4 What Check accepts, AppendJSON shows whole, and as JSON.
//
// Example:
//
//	t, err := bson.Compile(`{"_id": {"$oid": "v1v"}, "n": 1}`, []bson.Word{{Text: "v1v", Value: 0}})
//	b, err := t.Append(nil, [][]byte{[]byte("65f000000000000000000001")})
//	err = bson.Check(b)
//	text := bson.AppendJSON(nil, b)
//
// Read parse.go, compile.go, scalar.go, template.go; element.go, view.go; decimal.go.
package bson
