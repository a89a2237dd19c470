// Package vendorstest starts what vendors wrote, for tests: receivers and SDKs, as processes of a module of their own
// (bench/vendors). The product depends on none of it.
//
// It is no double: those are in runtime/outputs/outputstest.
//
// Source: the programs of bench/vendors.
//
// Invariants:
//
//	VENDOR-1 A program ends with its test.
//	VENDOR-2 Where its module cannot be fetched the test is skipped; in CI it fails.
//
// Example: addresses := vendorstest.Start(t, "otlp") is the collector's receiver, and a page of what it took.
//
// Read vendors.go, otlp.go.
package vendorstest
