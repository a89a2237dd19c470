// Package manual explains the words of the workflow language: `hyperscale docs` prints it,
// and an editor shows it. It has no texts of its own. core/workflow says what a word takes,
// and the manual, docs/workflows.md, what it means.
//
// It is not a Markdown processor: it knows what that manual consists of (headings,
// paragraphs, tables, fenced blocks), and nothing else.
//
// How it reads the manual:
//
//   - A row of a table whose first cell has `name` or `name(...)` explains that word.
//     A name without a dot continues the one before: `regex.find(..)`, `match`.
//   - A table whose first heading is `name(...)` explains the arguments of that word, one a row;
//     further names there share it.
//   - Where there is no such row, a row or a paragraph explains a word that has `name(` in it.
//   - The first fenced python block that has `name(` in it, in that section or else
//     anywhere, is its example. A block that shows an error is none.
//   - A section is a topic, under its title and each part of it.
//
// Invariants:
//
//	MANUAL-1 The manual explains every word of the language, and outside of the signature every
//	         argument that needs a name: a test demands it.
//	MANUAL-2 Every example is a whole file that loads.
//	MANUAL-3 Text prints no line longer than its width, but for code and addresses.
//
// Read manual.go, parse.go, page.go, text.go.
package manual
