package manual

import (
	"regexp"
	"strings"
)

// section is the part between two headings.
type section struct {
	title  string
	blocks []block
}

// block is a paragraph, a table, or a fenced block.
type block struct {
	text  string
	rows  [][]string // of a table: the first is its heading
	code  string
	lang  string
	fails bool // a fenced file that is refused: the error stands behind it
}

// parse reads the manual. What it does not know is a paragraph.
func parse(text string) []section {
	sections := []section{{}}
	var pending []string
	flush := func() {
		if len(pending) > 0 {
			last := &sections[len(sections)-1]
			last.blocks = append(last.blocks, plain(pending))
			pending = nil
		}
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "```"):
			flush()
			var code []string
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
				code = append(code, lines[i])
			}
			last := &sections[len(sections)-1]
			lang := strings.TrimPrefix(line, "```")
			if n := len(last.blocks); lang == "error" && n > 0 {
				for k := range last.blocks[:n] {
					if k >= n-2 && last.blocks[k].lang == "python" {
						last.blocks[k].fails = true
					}
				}
			}
			last.blocks = append(last.blocks, block{code: strings.Join(code, "\n") + "\n", lang: lang})
		case strings.HasPrefix(line, "#"):
			flush()
			sections = append(sections, section{title: strings.TrimLeft(line, "# ")})
		case strings.TrimSpace(line) == "":
			flush()
		default:
			pending = append(pending, line)
		}
	}
	flush()
	return sections
}

// plain is a table, an indented block or a paragraph.
func plain(lines []string) block {
	switch {
	case strings.HasPrefix(lines[0], "|"):
		var rows [][]string
		for i, line := range lines {
			if i != 1 { // the dashes
				rows = append(rows, cells(line))
			}
		}
		return block{rows: rows}
	case strings.HasPrefix(lines[0], "    "):
		var b strings.Builder
		for _, line := range lines {
			b.WriteString(strings.TrimPrefix(line, "    ") + "\n")
		}
		return block{code: b.String()}
	}
	return block{text: strings.Join(lines, " ")}
}

// cells cuts a row at its bars, but not within `code`.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var out []string
	var cell strings.Builder
	code := false
	for _, r := range line {
		if r == '`' {
			code = !code
		}
		if r == '|' && !code {
			out = append(out, strings.TrimSpace(cell.String()))
			cell.Reset()
			continue
		}
		cell.WriteRune(r)
	}
	return append(out, strings.TrimSpace(cell.String()))
}

var (
	spanPattern = regexp.MustCompile("`([^`]+)`")
	namePattern = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(\(|$)`)
)

// named lists the names that the code in a cell begins with. One without a dot
// continues the one before.
func named(cell string) []string {
	if !strings.HasPrefix(cell, "`") {
		return nil // it speaks about a name
	}
	var out []string
	under := ""
	for _, span := range spanPattern.FindAllStringSubmatch(cell, -1) {
		m := namePattern.FindStringSubmatch(span[1])
		if m == nil {
			continue
		}
		name := m[1]
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			under = name[:i+1]
		} else {
			name = under + name
		}
		out = append(out, name)
	}
	return out
}
