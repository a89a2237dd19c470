// Package guard meters a Starlark thread: it charges for what operators, methods and
// built-in functions make, before they make it.
//
// It defines no word but those of Starlark that it guards. A limit on interpreted
// steps alone is not enough: one operator can make a gigabyte.
//
// Source: DESIGN.md, "Language". It rewrites files before they are compiled, so that each
// operator which can make much calls a guard.
//
// Invariants:
//
//	GUARD-1 What a call makes is at most the bytes of its Meter, whatever the file is.
//	GUARD-2 A rewritten file has the positions of the original: errors point at them.
//
// An example:
//
//	if err := guard.MeterOf(thread).Text(thread, "join", n); err != nil { ... }
//
// Read meter.go, guard.go, method.go, secrets.go, rewrite.go, nesting.go.
package guard
