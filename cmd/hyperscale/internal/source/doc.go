// Package source reads a workflow file, the files that it loads, and the flags that change
// them. From these it loads a program.
//
// It runs nothing and connects to no cluster. It asks the servers of grpc.reflect for their
// descriptors. run, submit, demo, validate and lsp share it.
//
// Source: docs/workflows.md; core/workflow holds the language.
//
// Invariants:
//
//	SRC-1 A file is read up to a bound, and its error names the file.
//	SRC-2 Create never touches a file that exists.
//	SRC-3 What a server tells is a file of the program before any process runs it.
//
// An example:
//
//	program, plan, err := source.Read("test.star", &flags)
//
// Read flags.go, params.go, secrets.go, program.go, reflect.go, rows.go.
package source
