package outputs

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want, without string }{
		{"größe 日本", "größe 日本", "größe 日本"},
		{"caf\xe9", "caf\uFFFDE9", "caf\uFFFDE9"},
		{"\xff\xfe", "\uFFFDFF\uFFFDFE", "\uFFFDFF\uFFFDFE"},
		{"a\x00b", "a\x00b", "a\uFFFD00b"},
		{"a \uFFFD b", "a \uFFFD b", "a \uFFFD b"},
		{"\uFFFDE9", "\uFFFDEF\uFFFDBF\uFFFDBDE9", "\uFFFDEF\uFFFDBF\uFFFDBDE9"},
		{"\uFFFDe9", "\uFFFDe9", "\uFFFDe9"},
		{"\uFFFDE\xe9", "\uFFFDE\uFFFDE9", "\uFFFDE\uFFFDE9"},
	} {
		require.Equal(t, c.want, Text(c.in), "%q", c.in)
		require.Equal(t, c.without, TextWithoutNUL(c.in), "%q", c.in)
	}
}

// FuzzText: texts that differ stay different, since each gives back the bytes that it was made of.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "caf\xe9", "\uFFFDE9", "\uFFFD\uFFFD00", "\x00", "\xef\xbf\xbd\xef\xbf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, out := range []string{Text(s), TextWithoutNUL(s)} {
			if !utf8.ValidString(out) || bytesOf(out) != s {
				t.Fatalf("%q is written as %q, which gives back %q", s, out, bytesOf(out))
			}
		}
		if strings.Contains(TextWithoutNUL(s), "\x00") {
			t.Fatalf("%q keeps a NUL", s)
		}
	})
}

// Rows of JSON come back with the names that they had, also with bytes that are no UTF-8: so a replay changes no key.
func TestRowsOfJSONKeepTheirNames(t *testing.T) {
	for _, name := range []string{"caf\xe8", "caf\xe9", "caf\uFFFD", "caf\uFFFDE9"} {
		r := Row{Kind: RowWindow, Job: "j", Test: name, Workflow: name, Step: name, Datacenter: name, Tags: []message.Tag{{Name: "t", Value: name}},
			Figures:   &Figures{Errors: []message.ErrorCount{{Kind: "\xe8", Count: 1}, {Kind: "\xe9", Count: 2}}},
			Threshold: &Threshold{Expression: name}, Event: &Event{Subject: name, Detail: name}}
		back, err := ParseJSON(AppendJSON(nil, &r))
		require.NoError(t, err)
		require.Equal(t, r.Figures.Errors, back.Figures.Errors)
		for _, of := range []string{back.Test, back.Workflow, back.Step, back.Datacenter, back.Tags[0].Value, back.Threshold.Expression, back.Event.Subject, back.Event.Detail} {
			require.Equal(t, name, of)
		}
		require.Equal(t, r.Key(), back.Key(), "a place that takes the row from a file has it twice")
	}
}
