// Package format writes workflow files in one style: that of buildifier, the formatter
// of Starlark's largest users. Four spaces, a trailing comma where a list stands on
// several lines, `name = value` with spaces. It keeps lines where the author broke them.
//
// It is not a linter: it reports nothing, sorts nothing, renames nothing and replaces no
// call by another. It touches no file: its caller writes.
//
// Invariants:
//
//	FMT-1 Its result parses, and means the same: the syntax trees are equal but for positions
//	      and brackets that change nothing. Every call proves that. Where the proof fails,
//	      Format rejects the file, which stays as it is.
//	FMT-2 It keeps comments, each with its text.
//	FMT-3 Formatting a formatted file changes nothing.
//	FMT-4 Any bytes end in a text or in an error, within the bounds of core/workflow.
//
// buildifier's parser knows neither `while` nor literals of bytes. Format passes them to it as
// a `for` and as an operation, with a name that is nowhere in the file. It turns them back in
// the printed text.
//
// Read format.go, tree.go.
package format
