package console

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/runtime/ui/cells"
)

// glass is a simple terminal: it understands a painter's output, and what bubbletea might
// write.
type glass struct {
	rows, columns int
	screens       [2][][]rune // the main and the alternate one
	alternate     int
	x, y          int
}

func newGlass(rows, columns int) *glass {
	g := &glass{rows: rows, columns: columns}
	for i := range g.screens {
		g.alternate = i
		g.erase()
	}
	g.alternate = 0
	return g
}

func (g *glass) erase() {
	g.screens[g.alternate] = make([][]rune, g.rows)
	for y := range g.rows {
		g.screens[g.alternate][y] = []rune(cells.Blanks(g.columns))
	}
}

var words = regexp.MustCompile(`^\x1b\[([?0-9;]*)([A-Za-z])`)

func (g *glass) write(text string) {
	for len(text) > 0 {
		if m := words.FindStringSubmatch(text); m != nil {
			g.obey(m[1], m[2])
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		// A row that is full keeps the cursor on its last character.
		g.screens[g.alternate][g.y][min(g.x, g.columns-1)] = r
		g.x = min(g.x+1, g.columns)
	}
}

func (g *glass) obey(argument, word string) {
	switch word {
	case "h", "l":
		if argument == "?1049" {
			g.alternate = strings.Index("lh", word)
		}
	case "J":
		g.erase()
	case "K":
		row := g.screens[g.alternate][g.y]
		for x := min(g.x, g.columns-1); x < g.columns; x++ {
			row[x] = ' '
		}
	case "H":
		row, _ := strconv.Atoi(strings.TrimSuffix(argument, ";1"))
		g.y, g.x = min(max(row-1, 0), g.rows-1), 0
	}
}

func (g *glass) lines() []string {
	var lines []string
	for _, row := range g.screens[g.alternate] {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return lines
}

// Whatever is shown, and whatever bubbletea writes between, on the alternate screen stands
// the newest frame, and nothing of it on the main one.
func TestPainterShowsTheFrame(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	defer func() { _ = w.Close() }()
	told := make([]byte, 1<<20)
	rapid.Check(t, func(t *rapid.T) {
		const rows, width = 6, 9
		p, g := &Painter{File: w}, newGlass(rows, width)
		hear := func() { // a mark after the output keeps the pipe from being empty
			_, _ = w.WriteString("\n")
			n, _ := r.Read(told)
			g.write(strings.TrimSuffix(string(told[:n]), "\n"))
		}
		line := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-c]{1,9}`), rapid.Just("\x1b[31mred\x1b[0m"), rapid.Just("\x1b[1mfull line\x1b[0m"))
		var frame []string
		shown := false
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				shown = rapid.Bool().Draw(t, "enters")
				word := leaveScreen
				if shown {
					word = enterScreen
				}
				_, _ = p.Write([]byte("\x1b[?25l" + word))
			case 1:
				_, _ = p.Write([]byte("\x1b[2J"))
			case 2:
				_, _ = p.Write([]byte("\x1b[3;1Hnoise"))
			default:
				frame = rapid.SliceOfN(line, 0, rows).Draw(t, "frame")
				p.Show(frame, width)
			}
			hear()
			if !shown {
				continue
			}
			want := make([]string, rows)
			for i := range frame {
				want[i] = regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(frame[i], "")
			}
			if d := cmp.Diff(want, g.lines()); d != "" {
				t.Fatalf("the screen is another one (-want +got):\n%s", d)
			}
		}
		g.alternate = 0
		for _, text := range g.lines() {
			if strings.Trim(text, "noise ") != "" {
				t.Fatalf("%q stands on the main screen", text)
			}
		}
	})
}

// A frame like the one before costs no byte, a changed line itself alone, and all lines one of
// another width.
func TestPainterWritesWhatChanged(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	p := &Painter{File: w, shown: true}
	p.Show([]string{"one", "two", "three"}, 5)
	p.Show([]string{"one", "two", "three"}, 5)
	p.Show([]string{"one", "2", "three"}, 5)
	p.Show([]string{"one"}, 6) // a terminal of another width may have moved lines about
	_ = w.Close()
	told := make([]byte, 1024)
	n, _ := r.Read(told)
	if got, want := string(told[:n]), "\x1b[0m\x1b[2J\x1b[1Hone\x1b[K\x1b[2Htwo\x1b[K\x1b[3Hthree\x1b[2H2\x1b[K\x1b[0m\x1b[2J\x1b[1Hone\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
