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

// bytesOf is what Text was made of.
func bytesOf(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if rest := s[size:]; r == utf8.RuneError && digits(rest) {
			b.WriteByte(byte(strings.IndexByte("0123456789ABCDEF", rest[0])<<4 | strings.IndexByte("0123456789ABCDEF", rest[1])))
			s = rest[2:]
			continue
		}
		b.WriteString(s[:size])
		s = s[size:]
	}
	return b.String()
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

// Rows of JSON whose names differ in bytes that are no UTF-8 are rows of two names, and no kind of error takes another's place.
func TestRowsOfJSONKeepNamesApart(t *testing.T) {
	names := map[string]bool{}
	for _, name := range []string{"caf\xe8", "caf\xe9", "caf\uFFFD"} {
		r := Row{Kind: RowWindow, Job: "j", Test: name, Workflow: name, Step: name, Datacenter: name, Tags: []message.Tag{{Name: "t", Value: name}},
			Figures: &Figures{Errors: []message.ErrorCount{{Kind: "\xe8", Count: 1}, {Kind: "\xe9", Count: 2}}}}
		back, err := ParseJSON(AppendJSON(nil, &r))
		require.NoError(t, err)
		require.Len(t, back.Figures.Errors, 2)
		for _, of := range []string{"test " + back.Test, "workflow " + back.Workflow, "step " + back.Step, "datacenter " + back.Datacenter, "tag " + back.Tags[0].Value} {
			require.False(t, names[of], "%q is there twice", of)
			names[of] = true
		}
	}
}
