package redact

import (
	"errors"
	"strings"

	"hyperscale/core/message"
)

// Hidden stands in place of what is secret.
const Hidden = "***"

// ValueMin is the least length of a value that is hidden: a shorter one would hide half of
// every text.
const ValueMin = 4

// cutMark ends a text that was cut.
const cutMark = "..."

// Mask hides a set of values. A nil Mask knows none.
type Mask struct {
	forms   []string // longest first
	replace *strings.Replacer
}

// New returns a mask of the values that have at least ValueMin bytes.
func New(values []string) *Mask {
	m := &Mask{forms: forms(values)}
	if len(m.forms) == 0 {
		return nil
	}
	pairs := make([]string, 0, 2*len(m.forms))
	for _, f := range m.forms {
		pairs = append(pairs, f, Hidden)
	}
	m.replace = strings.NewReplacer(pairs...)
	return m
}

// Values hides the known values alone.
func (m *Mask) Values(text string) string {
	if m == nil || text == "" {
		return text
	}
	return m.end(m.replace.Replace(text))
}

// Has reports whether a text contains a known value.
func (m *Mask) Has(text string) bool { return m != nil && m.replace.Replace(text) != text }

// Line is a line of a log: without values, users of addresses and heads of credentials.
func (m *Mask) Line(text string) string { return credentials(addresses(m.Values(text), false)) }

// Example is the example of an error: it also lacks the values of queries.
func (m *Mask) Example(text string) string { return credentials(addresses(m.Values(text), true)) }

// Dump is the head of a message, or a body.
func (m *Mask) Dump(text string) string { return headLines(m.Values(text)) }

// end hides the beginning of a value at the end of a text that was cut there.
func (m *Mask) end(text string) string {
	body, cut := strings.CutSuffix(text, cutMark)
	longest := 0
	for _, f := range m.forms {
		for n := min(len(f)-1, len(body)); n >= ValueMin && n > longest; n-- {
			if strings.HasSuffix(body, f[:n]) {
				longest = n
				break
			}
		}
	}
	if longest == 0 {
		return text
	}
	if body = body[:len(body)-longest] + Hidden; cut {
		body += cutMark
	}
	return body
}

// Error is an error whose text hides what an example hides. One that has nothing to hide stays.
func (m *Mask) Error(err error) error {
	if text := m.Example(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// Stats masks the texts of statistics in place.
func (m *Mask) Stats(s *message.Stats) {
	for i := range s.Steps {
		m.errors(s.Steps[i].Errors)
	}
	for i := range s.Logs {
		s.Logs[i] = m.Line(s.Logs[i])
	}
}

func (m *Mask) errors(all []message.ErrorCount) {
	for i := range all {
		all[i].Kind, all[i].Example = m.Line(all[i].Kind), m.Example(all[i].Example)
	}
}
