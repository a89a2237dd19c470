// Package builtin holds the modules that files cannot write themselves, as the language
// is hermetic: time, json, regex, url, digests, signatures, pages, random numbers,
// and expect, which compares values.
//
// It sends nothing and reads no clock: a function asks its virtual user for the time
// and for random numbers. A file that is being loaded has neither.
//
// Source: docs/workflows.md; RFC 4648, 6234, 7515, 8259, 9562.
//
// Invariants:
//
//	BUILTIN-1 A function of a module charges its meter for what it reads and makes.
//	BUILTIN-2 The same arguments, clock and random numbers give the same value.
//
// An example:
//
//	all["json"] = builtin.JSON()
//
// Read module.go, json.go, form.go, duration.go, clock.go; then one file a module.
package builtin
