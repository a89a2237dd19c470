package picture

import (
	"bytes"
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"hyperscale/core/node"
)

// BytesMax bounds a page.
const BytesMax = 6 << 20

// moreMax is how much text one message gets: Write tries the values in turn until the page
// fits.
func moreMax() []int { return []int{300, 120, 40, 0} }

//go:embed page.html
var template string

// About is what a page says about its run.
type About struct {
	Title    string
	Notes    []string // one per line: the command that makes this picture again
	Broken   string   // the broken promise, if any
	BrokenAt time.Duration
	BrokenOn node.ID
	Healed   time.Duration // when the world healed everything; zero if unknown
}

// note says what the window shows.
func (r *Recorder) note(shown, lost int, from, to time.Duration) string {
	text := fmt.Sprintf("Shown: %d things from %v to %v", shown+lost, from.Round(time.Millisecond), to.Round(time.Millisecond))
	switch {
	case !r.cut:
		text += ", the whole run."
	case r.around == FromBeginning:
		text += fmt.Sprintf(", the beginning of a run that lasted %v (a picture holds %d).", r.seen.Round(time.Millisecond), WindowMax)
	default:
		text += fmt.Sprintf(", around %v of a run that lasted %v (a picture holds %d).", r.around.Round(time.Millisecond), r.seen.Round(time.Millisecond), AroundMax)
	}
	text += " Left out: heartbeats that arrived and the timers that send them."
	if r.more > 0 {
		text += fmt.Sprintf(" Left out: %d faults.", r.more)
	}
	return text
}

// Write writes the page. The caller calls it once, after the run.
func (r *Recorder) Write(w io.Writer, a About) error {
	p := r.build(a)
	var text []byte
	for _, bound := range moreMax() {
		for i := range p.Arrows {
			p.Arrows[i].More = shorten(p.Arrows[i].More, bound)
		}
		for i := range p.Marks {
			p.Marks[i].More = shorten(p.Marks[i].More, bound)
		}
		var err error
		if text, err = render(p); err != nil {
			return fmt.Errorf("write picture: %w", err)
		}
		if len(text) <= BytesMax {
			break
		}
	}
	if len(text) > BytesMax {
		return fmt.Errorf("write picture: %d bytes are above the bound of %d: choose a shorter --virtual", len(text), BytesMax)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

func shorten(s string, bound int) string {
	if bound == 0 {
		return ""
	}
	return clip(s, bound)
}

// render fills the template. json.Marshal writes < > & as escapes (PICTURE-4).
func render(p *page) ([]byte, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	before, after, _ := strings.Cut(template, "{{data}}")
	var b bytes.Buffer
	b.WriteString(strings.Replace(before, "{{title}}", html.EscapeString(p.Title), 1))
	b.Write(data)
	b.WriteString(after)
	return b.Bytes(), nil
}
