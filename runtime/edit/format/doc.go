// Package format writes workflow files in one style: that of buildifier, the formatter
// of Starlark's largest users. Four spaces, a trailing comma where a list stands on
// several lines, `name = value` with spaces. Lines are kept where the author broke them.
//
// It is not a linter: it reports nothing, sorts nothing, renames nothing and replaces no
// call by another. It touches no file: who calls it writes.
//
// Invariants:
//
//	FMT-1 What it returns parses, and means the same: the syntax trees are equal but for
//	      positions and brackets that change nothing. Every call proves that, whatever the
//	      printer did; where it fails the file is refused, and stays as it is.
//	FMT-2 Comments are kept, each with its text.
//	FMT-3 Formatting what is formatted changes nothing.
//	FMT-4 Any bytes end in a text or in an error, within the bounds of core/workflow.
//
// buildifier's parser knows neither `while` nor literals of bytes. They are handed to it
// as a `for` and as an operation, with a name that is nowhere in the file, and are turned
// back in what it prints.
//
// Read format.go, tree.go.
package format
