// Package redact hides in texts what people keep secret: known values, heads of credentials,
// users in addresses and values of queries.
//
// It does not decide which texts leave a process: the engine masks what it reports, prints and
// logs, and the command masks its own arguments.
//
// Source: docs/workflows.md, "Secrets".
//
// Invariants:
//
//	REDACT-1 No text that a Mask returns contains a known value: as it is, escaped once or twice
//	         for a URL, JSON, a page or a Go string, in base64 at any offset, also of an escaped
//	         value and within a URL, or in hex. Nor does it contain a long beginning of one, as
//	         excerpts have, or one of ValueMin bytes before dots.
//	REDACT-2 Masking a masked text changes nothing.
//	REDACT-3 An Excerpt has no byte of a secret that begins within its bound.
//
// An example:
//
//	mask := redact.New([]string{"hunter2"})
//	mask.Example("GET http://ann:hunter2@a/?q=1") // GET http://***@a/?q=***
//
// Read mask.go, forms.go, kind.go, excerpt.go.
package redact
