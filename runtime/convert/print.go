package convert

import (
	"strings"
)

// width is where a line is broken, as buildifier's readers are used to.
const width = 110

// node is a piece of Starlark that stands in one line if it fits, else in one for each
// of its items.
type node struct {
	atom        string
	open, close string
	items       []item
	broken      bool // always on separate lines
}

type item struct {
	key   string // with what is behind it: "name = ", "\"name\": "
	value node
	notes []string // comments above it
}

func atom(s string) node { return node{atom: s} }

func call(fn string, items ...item) node { return node{open: fn + "(", close: ")", items: items} }

func list(items ...item) node { return node{open: "[", close: "]", items: items} }

func dict(items ...item) node { return node{open: "{", close: "}", items: items} }

func (n node) flat(b *strings.Builder) bool {
	if n.open == "" {
		b.WriteString(n.atom)
		return b.Len() <= width
	}
	if n.broken && len(n.items) > 0 {
		return false
	}
	b.WriteString(n.open)
	for i, it := range n.items {
		if len(it.notes) > 0 {
			return false
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(it.key)
		if !it.value.flat(b) {
			return false
		}
	}
	b.WriteString(n.close)
	return b.Len() <= width
}

// print writes a node whose first line begins at column used.
func (n node) print(b *strings.Builder, indent, used int) {
	var flat strings.Builder
	if n.open == "" {
		b.WriteString(n.atom)
		return
	}
	if n.flat(&flat) && used+flat.Len() < width {
		b.WriteString(flat.String())
		return
	}
	b.WriteString(n.open)
	if len(n.items) == 1 && n.items[0].key == "" && len(n.items[0].notes) == 0 && n.items[0].value.open != "" && n.open != "[" {
		n.items[0].value.print(b, indent, used+len(n.open))
		b.WriteString(n.close)
		return
	}
	b.WriteByte('\n')
	pad := strings.Repeat("    ", indent+1)
	for _, it := range n.items {
		for _, note := range it.notes {
			comment(b, pad, note)
		}
		b.WriteString(pad + it.key)
		it.value.print(b, indent+1, len(pad)+len(it.key)+1)
		b.WriteString(",\n")
	}
	b.WriteString(strings.Repeat("    ", indent) + n.close)
}

// comment writes a note in lines that are not too long.
func comment(b *strings.Builder, pad, note string) {
	line := pad + "#"
	for _, word := range strings.Fields(note) {
		if len(line)+1+len(word) > width && line != pad+"#" {
			b.WriteString(line + "\n")
			line = pad + "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
