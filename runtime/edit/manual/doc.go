// Package manual explains the words of the workflow language: what `hyperscale docs`
// prints and an editor shows. It has no texts of its own. What a word takes is what
// core/workflow says of it; what it means is looked up in the manual, docs/workflows.md.
//
// It is not a Markdown processor: it knows what that manual consists of (headings,
// paragraphs, tables, fenced blocks), and nothing else.
//
// How the manual is read:
//
//   - A row of a table whose first cell has `name` or `name(...)` explains that word.
//     A name without a dot continues the one before: `regex.find(..)`, `match`.
//   - A table whose first heading is `name(...)` explains the arguments of that word, one a row;
//     further names there share it.
//   - Where there is no such row, a row or a paragraph explains a word that has `name(` in it.
//   - The first fenced python block that has `name(` in it, in that section or else
//     anywhere, is its example. Blocks that show an error are none.
//   - A section is a topic, under its title and each part of it.
//
// Invariants:
//
//	MANUAL-1 Every word of the language is explained, and every argument that needs a name is
//	         told outside of the signature: a test demands it of the manual.
//	MANUAL-2 Every example is a whole file that loads.
//	MANUAL-3 Text prints no line longer than its width, but for code and addresses.
//
// Read manual.go, parse.go, page.go, text.go.
package manual
