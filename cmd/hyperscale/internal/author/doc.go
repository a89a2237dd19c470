// Package author holds the commands of a workflow file's author: new,
// validate, fmt, docs and lsp.
//
// It sends no load and asks no cluster.
//
// Source: docs/workflows.md, docs/from-other-tools.md.
//
// Invariants:
//
//	AUT-1 A command that cannot write the whole file leaves the old one as it was.
//	AUT-2 new writes only what loads.
//
// An example:
//
//	root.AddCommand(author.NewValidateCommand())
//
// Read new.go, convert.go, validate.go; then fmt.go, docs.go, lsp.go.
package author
