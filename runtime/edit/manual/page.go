package manual

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/workflow"
)

// Find returns the explanation of a word, a topic or an argument, in Markdown.
func (m *Manual) Find(name string) (string, bool) {
	if w, ok := m.words[name]; ok {
		return m.word(w), true
	}
	if page, ok := m.Topic(name); ok {
		return page, true
	}
	return m.argument(name)
}

// Topic explains what a section of the manual is about, whatever words have that name.
func (m *Manual) Topic(name string) (string, bool) {
	for _, s := range m.sections {
		for _, p := range parts(s.title) {
			if s.title != "" && (p == strings.ToLower(name) || p == strings.ToLower(name)+"s") {
				return m.topic(s), true
			}
		}
	}
	return "", false
}

// Brief returns the word's signature and meaning, without its arguments and its example.
func (m *Manual) Brief(w workflow.Word) string {
	return "```python\n" + Signature(w) + "\n```\n" + m.meaning(w)
}

func (m *Manual) word(w workflow.Word) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s", w.Name, m.Brief(w))
	if rows := m.arguments(w); len(rows) > 0 {
		b.WriteString("\n## Arguments\n\n")
		b.WriteString(table(rows))
	}
	if below := m.Below(w.Name); len(below) > 0 {
		b.WriteString("\n## Below it\n\n")
		for _, name := range below {
			fmt.Fprintf(&b, "- `%s`\n", w.Name+"."+name)
		}
	}
	if code := m.example(w); code != "" {
		fmt.Fprintf(&b, "\n## Example\n\n```python\n%s```\n", code)
	}
	if s := m.home(w); s != nil && s.title != "" {
		fmt.Fprintf(&b, "\nMore: `hyperscale docs %s`\n", topicName(s.title))
	}
	return b.String()
}

func (m *Manual) topic(s section) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", s.title)
	for _, part := range s.blocks {
		b.WriteByte('\n')
		switch {
		case part.rows != nil:
			b.WriteString(table(part.rows))
		case part.code != "":
			fmt.Fprintf(&b, "```%s\n%s```\n", part.lang, part.code)
		default:
			b.WriteString(part.text + "\n")
		}
	}
	return b.String()
}

// argument explains a name that only stands in calls.
func (m *Manual) argument(name string) (string, bool) {
	var b strings.Builder
	for _, s := range m.sections {
		for _, part := range s.blocks {
			if owners := describes(part); len(owners) > 0 {
				for _, row := range part.rows[1:] {
					if slices.Contains(named(row[0]), name) {
						fmt.Fprintf(&b, "\nAn argument of `%s`:\n\n%s", owners[0], table([][]string{part.rows[0], row}))
					}
				}
			}
		}
	}
	if b.Len() == 0 {
		return "", false
	}
	return "# " + name + "\n" + b.String(), true
}

// describes lists the words whose arguments a table explains.
func describes(part block) []string {
	if len(part.rows) == 0 || !strings.Contains(part.rows[0][0], "(...)`") {
		return nil
	}
	return named(part.rows[0][0])
}

// arguments returns the rows about a word's arguments, below their heading, in the manual's
// order.
func (m *Manual) arguments(w workflow.Word) [][]string {
	var out [][]string
	name := strings.TrimPrefix(w.Name, "vu.")
	for _, s := range m.sections {
		for _, part := range s.blocks {
			if of := describes(part); !slices.Contains(of, name) && !slices.Contains(of, w.Name) {
				continue
			}
			if out == nil {
				out = append(out, append([]string{""}, part.rows[0][1:]...))
			}
			for _, row := range part.rows[1:] {
				if slices.ContainsFunc(named(row[0]), func(a string) bool { return slices.Contains(w.Arguments, a) }) {
					out = append(out, row)
				}
			}
		}
	}
	if len(out) == 1 {
		return nil // the heading alone
	}
	return out
}

// Argument returns the explanation of one argument of a word; empty if there is none.
func (m *Manual) Argument(w workflow.Word, name string) string {
	rows := m.arguments(w)
	var found [][]string
	for i, row := range rows {
		if i == 0 || slices.Contains(named(row[0]), name) {
			found = append(found, row)
		}
	}
	if len(found) < 2 {
		return ""
	}
	return table(found)
}

// meaning returns the explanation of a word: see the package's rules.
func (m *Manual) meaning(w workflow.Word) string {
	for name := w.Name; name != ""; name = parent(name) {
		for _, look := range []func(string, block) string{ownRow, anyRow, paragraph} {
			var b strings.Builder
			for _, s := range m.sections {
				for _, part := range s.blocks {
					b.WriteString(look(name, part))
				}
			}
			if b.Len() > 0 {
				return b.String()
			}
		}
		if below, ok := strings.CutPrefix(name, "vu."); ok && strings.Contains(below, ".") {
			if twin, ok := m.words[below]; ok {
				return m.meaning(twin)
			}
		}
	}
	if described := m.home(w); described != nil {
		return m.topicLead(described)
	}
	return ""
}

// topicLead returns the paragraphs of a section that explains a word's arguments.
func (m *Manual) topicLead(s *section) string {
	for _, part := range s.blocks {
		if part.text != "" {
			return "\n" + part.text + "\n"
		}
	}
	return ""
}

func parent(name string) string { return name[:max(strings.LastIndexByte(name, '.'), 0)] }

func ownRow(name string, part block) string {
	if len(part.rows) == 0 || len(describes(part)) > 0 {
		return ""
	}
	var found [][]string
	for _, row := range part.rows[1:] {
		if slices.Contains(named(row[0]), name) {
			found = append(found, row)
		}
	}
	if found == nil {
		return ""
	}
	return "\n" + table(append([][]string{part.rows[0]}, found...))
}

func anyRow(name string, part block) string {
	if len(part.rows) == 0 {
		return ""
	}
	for _, row := range part.rows[1:] {
		if strings.Contains(strings.Join(row, " "), "`"+name+"(") {
			return "\n" + table([][]string{part.rows[0], row})
		}
	}
	return ""
}

func paragraph(name string, part block) string {
	if strings.Contains(part.text, "`"+name+"(") {
		return "\n" + part.text + "\n"
	}
	return ""
}

// home is the section that says most about a word: the one with its arguments, or else the one
// with the word.
func (m *Manual) home(w workflow.Word) *section {
	name := strings.TrimPrefix(w.Name, "vu.")
	for i, s := range m.sections {
		for _, part := range s.blocks {
			if slices.Contains(describes(part), name) {
				return &m.sections[i]
			}
		}
	}
	for name := w.Name; name != ""; name = parent(name) {
		for i, s := range m.sections {
			for _, part := range s.blocks {
				if ownRow(name, part)+anyRow(name, part)+paragraph(name, part) != "" {
					return &m.sections[i]
				}
			}
		}
	}
	return nil
}

// example is the first whole file that uses the word, in its section or else anywhere.
func (m *Manual) example(w workflow.Word) string {
	name := w.Name
	if w.Function {
		name += "("
	}
	if !w.Function && len(m.Below(w.Name)) > 0 {
		return ""
	}
	sections := m.sections
	if s := m.home(w); s != nil {
		sections = append([]section{*s}, sections...)
	}
	for _, s := range sections {
		for _, part := range s.blocks {
			if part.lang == "python" && !part.fails && has(part.code, name) {
				return part.code
			}
		}
	}
	return ""
}

// has says that code has the name in it, not as the end of a longer one.
func has(code, name string) bool {
	for at := 0; ; {
		i := strings.Index(code[at:], name)
		if i < 0 {
			return false
		}
		at += i
		if at == 0 || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.", rune(code[at-1])) {
			return true
		}
		at += len(name)
	}
}

// table writes rows as Markdown.
func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return b.String()
}
