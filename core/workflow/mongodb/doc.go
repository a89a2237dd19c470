// Package mongodb has the words of MongoDB: mongodb.client, find, aggregate, insert, update, delete and command, and
// what functions ask by vu.mongodb.
//
// It sends nothing: core/workflow/request has the requests as plain data, and runtime/engine carries them. Each
// of them is one command in extended JSON, whose fields stand in the order of the file.
//
// Source: docs/workflows.md; "Database commands" and "Extended JSON (v2)" of MongoDB's manual.
//
// Invariants:
//
//	MONGO-1 A document that cannot become BSON is found when the file loads, but for what values make of it.
//	MONGO-2 A whole number is an integer of 32 or 64 bits, and another one a double: 1 and 1.0 differ.
//
// Example:
//
//	all["mongodb"] = mongodb.Namespace("mongodb", nil, describe)
//
// Read client.go, address.go, verbs.go, document.go.
package mongodb
