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

// Mask hides a set of values. A nil Mask knows none.
type Mask struct {
	forms map[string][]string // by their first ValueMin bytes, longest first
	pairs [1 << 10]uint64     // bits: the first two bytes of forms
}

// New returns a mask of the values that have at least ValueMin bytes.
func New(values []string) *Mask {
	all := forms(values)
	if len(all) == 0 {
		return nil
	}
	m := &Mask{forms: map[string][]string{}}
	for _, f := range all {
		m.forms[f[:ValueMin]] = append(m.forms[f[:ValueMin]], f)
		m.pairs[int(f[0])<<2|int(f[1]>>6)] |= 1 << (f[1] & 63)
	}
	return m
}

// Values hides the known values alone, and their beginnings where the text was cut.
func (m *Mask) Values(text string) string {
	if m == nil {
		return text
	}
	var out strings.Builder
	from := 0
	for i := 0; i+ValueMin <= len(text); {
		if n := m.at(text, i); n > 0 {
			out.WriteString(text[from:i])
			out.WriteString(Hidden)
			i += n
			from = i
			continue
		}
		i++
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

// at is how many bytes at i are secret.
func (m *Mask) at(text string, i int) int {
	if m.pairs[int(text[i])<<2|int(text[i+1]>>6)]&(1<<(text[i+1]&63)) == 0 {
		return 0
	}
	rest, most := text[i:], 0
	for _, f := range m.forms[rest[:ValueMin]] {
		n := ValueMin
		for n < len(f) && n < len(rest) && f[n] == rest[n] {
			n++
		}
		if behind := rest[n:]; n == len(f) || n >= telling(f) || strings.HasPrefix(behind, cut) || strings.Trim(behind, `".`) == "" { // cut, perhaps in quotes
			most = max(most, n)
		}
	}
	return most
}

// telling is how long a beginning of a form is hidden wherever it stands: what quotes an excerpt
// of a value cuts it.
func telling(form string) int { return min(max(8, len(form)/2), 24) }

// Has reports whether a text contains a known value.
func (m *Mask) Has(text string) bool { return m.Values(text) != text }

// Line is a line of a log: without values, users of addresses and heads of credentials.
func (m *Mask) Line(text string) string { return credentials(addresses(m.Values(text), false)) }

// Example is the example of an error: it also lacks the values of queries.
func (m *Mask) Example(text string) string { return credentials(addresses(m.Values(text), true)) }

// Dump is the head of a message, or a body.
func (m *Mask) Dump(text string) string { return headLines(m.Values(text)) }

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
	for i := range s.Silent {
		s.Silent[i].Kind, s.Silent[i].Example = m.Line(s.Silent[i].Kind), m.Example(s.Silent[i].Example)
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
