// Package objects has the command `operator`, which runs load tests that are objects of Kubernetes.
//
// It knows flags and files alone: runtime/operator does the work.
//
// Source: docs/operations.md, "Load tests as objects of Kubernetes".
//
// Invariants:
//
//	OBJECTS-1 A fault of a flag or a file is said before anything is asked.
//
// An example:
//
//	root.AddCommand(objects.NewCommand())
//
// Read command.go.
package objects
