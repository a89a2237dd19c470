package manual

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var linkPattern = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

// Text lays Markdown out for a terminal of so many columns: paragraphs are filled, each
// row of a table becomes a small paragraph, code stays as it is.
func Text(markdown string, width int) string {
	var b strings.Builder
	for i, s := range parse(markdown) {
		if s.title != "" {
			if i > 1 {
				b.WriteByte('\n')
			}
			b.WriteString(s.title + "\n")
		}
		for _, part := range s.blocks {
			b.WriteByte('\n')
			switch {
			case part.rows != nil:
				writeRows(&b, part.rows, width)
			case part.code != "":
				for line := range strings.Lines(part.code) {
					if strings.TrimSpace(line) == "" {
						b.WriteByte('\n')
						continue
					}
					b.WriteString("    " + line)
				}
			case strings.HasPrefix(part.text, "- "):
				for _, item := range strings.Split(part.text, "- `") {
					if item != "" {
						fill(&b, strings.TrimSuffix(strings.TrimSpace(item), "`"), "  ", "      ", width)
					}
				}
			default:
				fill(&b, bare(part.text), "", "", width)
			}
		}
	}
	return b.String()
}

// writeRows writes each row: its first cell, then the others, each after its column's name.
func writeRows(b *strings.Builder, rows [][]string, width int) {
	for _, row := range rows[1:] {
		fill(b, bare(row[0]), "  ", "    ", width)
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			if i+1 < len(rows[0]) && i > 0 && rows[0][i+1] != "" {
				cell = rows[0][i+1] + ": " + cell
			}
			fill(b, bare(cell), "      ", "      ", width)
		}
	}
}

// bare drops marks that a terminal cannot show. Between ` and ` text stands as it is.
func bare(text string) string {
	text = linkPattern.ReplaceAllString(text, "$1 ($2)")
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "**", "")
	}
	return strings.Join(parts, "")
}

// fill breaks words into lines.
func fill(b *strings.Builder, text, first, rest string, width int) {
	line := first
	for i, word := range strings.Fields(text) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = rest
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// Fill writes a head and words next to it, which continue in the same column.
func Fill(b *strings.Builder, head, words string, width int) {
	fill(b, words, head+" ", strings.Repeat(" ", utf8.RuneCountInString(head)+1), width)
}
