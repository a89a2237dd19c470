// Package examples holds workflow files to copy from, and carries them inside the
// binary, so that `hyperscale demo` needs no other file.
//
// It is not a library and tests nothing: each file runs in CI, and its comments
// are its manual. docs/workflows.md explains the language.
//
// Invariants:
//
//	EXAMPLE-1 Every file takes --set target=URL and runs against `hyperscale target`.
//
// Read quickstart.star first.
package examples
