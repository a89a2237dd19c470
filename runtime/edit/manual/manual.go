package manual

import (
	"slices"
	"strings"

	"hyperscale/core/workflow"
)

// Manual explains words and topics. It does not change after New.
type Manual struct {
	sections []section
	words    map[string]workflow.Word
	names    []string // of words, sorted
}

// New reads the manual's text for the language's words.
func New(text string, words []workflow.Word) *Manual {
	m := &Manual{sections: parse(text), words: map[string]workflow.Word{}}
	for _, w := range words {
		m.words[w.Name] = w
		m.names = append(m.names, w.Name)
	}
	slices.Sort(m.names)
	return m
}

// Word returns the word of that name. A file names its responses as it likes, so only
// `response` itself stands for them.
func (m *Manual) Word(name string) (workflow.Word, bool) {
	w, ok := m.words[name]
	return w, ok
}

// Below lists the names after a prefix and a dot; for an empty prefix all first names.
func (m *Manual) Below(name string) []string {
	prefix := ""
	if name != "" {
		prefix = name + "."
	}
	var out []string
	for _, n := range m.names {
		if rest, ok := strings.CutPrefix(n, prefix); ok && !strings.Contains(rest, ".") {
			out = append(out, rest)
		}
	}
	return out
}

// Topics lists the manual's sections.
func (m *Manual) Topics() []string {
	var out []string
	for _, s := range m.sections {
		if s.title != "" && len(s.blocks) > 0 {
			out = append(out, topicName(s.title))
		}
	}
	return out
}

// Names lists all names that Find knows except arguments, for a search of the nearest.
func (m *Manual) Names() []string {
	out := slices.Clone(m.names)
	for _, s := range m.sections {
		if s.title != "" {
			out = append(out, parts(s.title)...)
		}
	}
	return out
}

// topicName is the name under which a reader finds a title: one word, the first if the title
// lists several.
func topicName(title string) string {
	first, _, _ := strings.Cut(strings.ToLower(title), ",")
	return strings.ReplaceAll(first, " ", "-")
}

// parts returns the names of a title: all of it, and each of its listed words.
func parts(title string) []string {
	lower := strings.ToLower(title)
	out := []string{lower}
	if strings.Contains(lower, ", ") {
		for _, p := range strings.FieldsFunc(strings.ReplaceAll(lower, " and ", ","), func(r rune) bool { return r == ',' }) {
			out = append(out, strings.TrimSpace(p))
		}
	}
	return append(out, strings.TrimPrefix(lower, "the "), topicName(title))
}

// signatureColumns is how wide a signature may be: it stands indented.
const signatureColumns = 74

// Signature shows how to write a word: http.get(url, headers = ...).
func Signature(w workflow.Word) string {
	if !w.Function {
		return w.Name
	}
	if w.Arguments == nil {
		return w.Name + "(...)"
	}
	var args []string
	for i, a := range w.Arguments {
		if i == w.Positional && w.Rest != "" {
			args = append(args, w.Rest+"...")
		}
		if i >= w.Positional {
			a += " = ..."
		}
		args = append(args, a)
	}
	whole := w.Name + "(" + strings.Join(args, ", ") + ")"
	if len(whole) <= signatureColumns {
		return whole
	}
	var b strings.Builder
	b.WriteString(w.Name + "(")
	line := signatureColumns
	for _, a := range args {
		if line += len(a) + 2; line > signatureColumns {
			b.WriteString("\n    ")
			line = 4 + len(a) + 2
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(a + ",")
	}
	return b.String() + "\n)"
}
