package cells

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Columns is how many columns of a terminal a clean text takes at most: its runes one
// by one. Terminals that join some of them into one picture take fewer.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if r < utf8.RuneSelf || r >= 0x2500 && r < 0x2580 || r >= 0x2800 && r < 0x2900 {
		return 1 // ASCII, lines and braille: nearly all of a screen
	}
	return displaywidth.Rune(r)
}

// Fit cuts s to width columns; a cut is shown.
func Fit(s string, width int) string {
	if len(s) <= width || Columns(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	room := width - 1
	for at, r := range s {
		if room -= columnsOf(r); room < 0 {
			return s[:at] + "…"
		}
	}
	return s
}

// Left and right pad to width columns; longer text stays whole.
func Left(s string, width int) string { return s + Blanks(width-Columns(s)) }

func Right(s string, width int) string { return Blanks(width-Columns(s)) + s }

func Blanks(n int) string { return strings.Repeat(" ", max(0, n)) }

// Visible is columns of a text with colours.
func Visible(s string) int {
	n := 0
	for at := 0; at < len(s); {
		if end := sequence(s[at:]); end > 0 {
			at += end
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		n += columnsOf(r)
		at += size
	}
	return n
}

// sequence is the length of the colour that s begins with.
func sequence(s string) int {
	if s[0] != '\x1b' {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}

// Clip cuts a text with colours to width columns: the last resort of a narrow screen.
func Clip(s string, width int) string {
	if len(s) <= width || Visible(s) <= width {
		return s
	}
	coloured := false
	for at := 0; at < len(s); {
		if end := sequence(s[at:]); end > 0 {
			coloured = true
			at += end
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if width -= columnsOf(r); width < 0 {
			s = s[:at]
			break
		}
		at += size
	}
	if coloured {
		s += "\x1b[0m"
	}
	return s
}

// plainer are the characters of our own that have a likeness in ASCII.
var plainer = strings.NewReplacer("µ", "u", "·", ".", "…", "~", "━", "=", "─", "-", "┤", "|", "✓", "+", "✗", "x", "←", "<", "→", ">", "↑", "^", "↓", "v", "⇢", "~")

// ASCII spells s for a terminal that knows no other characters, in as many columns.
func ASCII(s string) string {
	if strings.IndexFunc(s, beyondASCII) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range plainer.Replace(s) {
		if !beyondASCII(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Repeat("?", columnsOf(r)))
	}
	return b.String()
}

func beyondASCII(r rune) bool { return r >= utf8.RuneSelf }
