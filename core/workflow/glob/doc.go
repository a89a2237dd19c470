// Package glob finds files below a folder by a pattern of their names.
//
// It opens no file and reads no folder: its caller lists them. It is no shell: it expands
// neither braces nor home folders, and a name that begins with a dot matches a dot only.
//
// Source: docs/workflows.md, "Files"; a part of a name matches as in path.Match, and ** is
// any number of folders, also none.
//
// Invariants:
//
//	GLOB-1 What Find returns is what Match accepts, of the files that are listed: sorted, each once.
//	GLOB-2 Time is linear in the length of name and pattern, each times the other, whatever they are.
//	GLOB-3 Find asks for no folder that holds no match, follows no link to a folder, and rejects a
//	       file that lies outside.
//
// An example:
//
//	p, err := glob.Parse("uploads/**/*.jpg")
//	p.Match("uploads/2024/a.jpg") // true
//
// Read pattern.go, then find.go.
package glob
