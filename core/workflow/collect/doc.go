// Package collect finds the files of a program: those that its files load, and the data that they
// name.
//
// It reads no disk: a Folder does. It executes no file: names stand in calls as literals, so that
// the same files have the same program everywhere.
//
// Source: docs/workflows.md, "Files" and "Several workflows, several files".
//
// Invariants:
//
//	COLL-1 Every collected name is a path below the main file's folder.
//	COLL-2 What travels has at most plan.FileBytesMax bytes, data at most dataInline of them; all
//	       files are at most plan.FilesMax.
//	COLL-3 Whether a file travels follows from the names and the sizes of the files alone.
//
// An example:
//
//	files, large, err := collect.Files("main.star", folder)
//
// Read collect.go, references.go, names.go.
package collect
