package export

import (
	"strings"
	"unicode"

	"hyperscale/runtime/ui/units"
)

// textMax bounds text from outside: names are short, examples of errors may not be.
const textMax = 512

// clean makes text from outside safe where no other escaping helps: valid UTF-8, on
// one line, without control characters and without the marks that turn text around,
// and bounded.
func clean(s string) string {
	return units.Shorten(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")), textMax)
}
