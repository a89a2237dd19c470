// Package web has the commands of the HTTP API of gates: `token`, and the hidden `compile`, which gates start.
//
// It answers no HTTP: runtime/api does, and internal/operate starts it with a gate.
//
// Source: docs/api.md.
//
// Invariants:
//
//	WEB-1 A token is printed once, and written nowhere.
//
// An example:
//
//	root.AddCommand(web.NewTokenCommand())
//
// Read token.go, compile.go.
package web
