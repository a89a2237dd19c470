// Package language holds what the words of workflow files are made of: values, the
// binding of arguments, faults, and the source that errors quote.
//
// It knows no word of the language: the packages above it define them. It runs
// nothing; guard meters what runs.
//
// Source: docs/workflows.md; go.starlark.net, whose parser and values these are.
//
// Invariants:
//
//	LANG-1 An error of a file is an Error: a place, the source line, a remedy.
//	LANG-2 Parse rejects a text that nests too deep before Starlark's parser sees it.
//
// An example of a fault:
//
//	return language.Faultf("%s: vus = %d is too many", fn, n).In("vus").Do("use less")
//
// Read errors.go, args.go, value.go, quote.go, source.go.
package language
