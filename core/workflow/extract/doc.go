// Package extract reads responses: extract takes a value out of one, expect says why one
// fails.
//
// It runs no interpreter: what a file declares is compiled when it loads.
//
// Source: docs/workflows.md; RFC 9535 for paths, of which it has a part.
//
// Invariants:
//
//	EXTRACT-1 Extract and Expect are pure functions of a View, in time linear in its
//	          length (times the steps of a path), whatever its bytes are.
//	EXTRACT-2 A value that lies in the response is not copied.
//
// An example:
//
//	value, ok, why := e.From(&view)
//
// Read view.go, extract.go, jsonpath.go, formvalue.go; then expect.go, scalar.go, graphql.go.
package extract
