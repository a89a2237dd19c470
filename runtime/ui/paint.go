package ui

import (
	"os"
	"strings"

	"golang.org/x/term"

	"hyperscale/runtime/ui/cells"
)

// Style says how to draw.
type Style struct {
	Width int  // columns
	Color bool // off: NO_COLOR, no terminal, or one that cannot
	ASCII bool // on: a terminal that knows no other characters
	Whole bool // on: a file or a pipe, in which no name is cut
}

// widthMin is what the summary's figures need: a narrower terminal breaks their lines.
const widthMin = 60

// fit cuts text where a line has an end.
func (s Style) fit(text string, width int) string {
	if s.Whole {
		return text
	}
	return cells.Fit(text, width)
}

// StyleOf finds out about a file: a terminal's width and colours, else 80 plain columns.
func StyleOf(f *os.File) Style {
	s := Style{Width: 80, Whole: true}
	if !term.IsTerminal(int(f.Fd())) {
		return s
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.Width = min(max(width, widthMin), 120)
	}
	s.Whole = false
	s.Color = os.Getenv("NO_COLOR") == "" && capable()
	s.ASCII = onlyASCII(os.Getenv)
	return s
}

// onlyASCII says that the locale, or the terminal's font, has nothing else. Where no
// locale is set, as in most containers, the terminal at the other end is of today.
func onlyASCII(env func(string) string) bool {
	if env("TERM") == "linux" { // the console's fonts know no braille
		return true
	}
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(env(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}

// capable says that the terminal understands escape sequences.
func capable() bool {
	switch name := os.Getenv("TERM"); name {
	case "", "dumb", "unknown":
		return false
	default:
		return !strings.HasPrefix(name, "vt") // a vt100 has neither colours nor a second screen
	}
}

// The colours, by meaning.
const (
	bold   = "1"
	faint  = "2"
	good   = "32"
	warn   = "33"
	bad    = "31"
	accent = "36"
	chosen = "1;36"
)

// paint colours text that has its final width already.
func (s Style) paint(colour, text string) string {
	if !s.Color || colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// table lays out rows in columns: the first to the left, the others to the right.
// Cells may be coloured by a function of their text.
type table struct {
	style  Style
	indent int
	first  int // width of the first column, if its cells need less
	head   []string
	rows   [][]cell
}

type cell struct{ text, colour string }

func plain(text string) cell { return cell{text: text} }

const (
	gap      = 2 // between columns
	firstMin = 8 // of the first column, before others are left out
)

// widths measures the columns. The first shrinks to the room that the others leave. If that is
// not enough, columns at the right disappear.
func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	widths[0] = t.first
	measure := func(i int, text string) { widths[i] = max(widths[i], cells.Columns(text)) }
	for i, h := range t.head {
		measure(i, h)
	}
	for _, row := range t.rows {
		for i, c := range row {
			measure(i, c.text)
		}
	}
	if t.style.Whole {
		return widths
	}
	room := t.style.Width - t.indent - firstMin
	for i, w := range widths[1:] {
		if room -= gap + w; room < 0 {
			widths = widths[:i+1]
			room += gap + w
			break
		}
	}
	widths[0] = min(widths[0], firstMin+room)
	return widths
}

// draw returns the lines.
func (t *table) draw() []string {
	widths := t.widths()
	line := func(row []cell) string {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", t.indent))
		for i, c := range row[:len(widths)] {
			text := cells.Left(cells.Fit(c.text, widths[0]), widths[0])
			if i > 0 {
				b.WriteString(strings.Repeat(" ", gap))
				text = cells.Right(c.text, widths[i])
			}
			b.WriteString(t.style.paint(c.colour, text))
		}
		return strings.TrimRight(b.String(), " ")
	}
	var head []cell
	for _, h := range t.head {
		head = append(head, cell{h, faint})
	}
	lines := []string{line(head)}
	for _, row := range t.rows {
		lines = append(lines, line(row))
	}
	return lines
}
