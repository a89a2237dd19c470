package console

import (
	"bytes"
	"os"
	"strconv"
	"sync"

	"hyperscale/runtime/ui/cells"
)

// Painter writes frames to a terminal. It writes only the lines that changed, so that a screen
// costs next to nothing compared with the load. (bubbletea would split each frame into cells
// and compare those, at five times the cost.)
//
// It is also bubbletea's output, which switches the terminal's modes and clears a resized
// screen. After each of bubbletea's writes it writes the whole frame again. Frames appear on
// the alternate screen only.
type Painter struct {
	*os.File

	mu     sync.Mutex
	frame  []string // the frame to show
	width  int      // columns of the terminal
	stands []string // lines already on the terminal
	shown  bool     // the alternate screen
	out    []byte
}

// What begins and ends the alternate screen.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
)

// Write passes on what bubbletea says.
func (p *Painter) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	enters, leaves := bytes.LastIndex(b, []byte(enterScreen)), bytes.LastIndex(b, []byte(leaveScreen))
	if enters >= 0 || leaves >= 0 {
		p.shown = enters > leaves
	}
	n, err := p.File.Write(b)
	if err == nil {
		p.stands = nil
		p.paint()
	}
	return n, err
}

// isShown tells whether the alternate screen is there.
func (p *Painter) isShown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// Show replaces the frame: lines of at most width columns.
func (p *Painter) Show(lines []string, width int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if width != p.width { // the terminal may have moved lines about
		p.stands = nil
	}
	p.frame, p.width = lines, width
	p.paint()
}

// paint writes the lines that differ. The caller holds the lock.
func (p *Painter) paint() {
	if !p.shown {
		return
	}
	p.out = p.out[:0]
	if p.stands == nil {
		p.out = append(p.out, "\x1b[0m\x1b[2J"...)
	}
	for i := range max(len(p.frame), len(p.stands)) {
		var is, was string
		if i < len(p.frame) {
			is = p.frame[i]
		}
		if i < len(p.stands) {
			was = p.stands[i]
		}
		if is == was {
			continue
		}
		p.out = append(p.out, "\x1b["...)
		p.out = strconv.AppendInt(p.out, int64(i)+1, 10)
		p.out = append(append(p.out, "H"...), is...)
		if cells.Visible(is) < p.width { // behind a full line this would take its last character
			p.out = append(p.out, "\x1b[K"...)
		}
	}
	p.stands = p.frame
	if len(p.out) > 0 {
		_, _ = p.File.Write(p.out) // a terminal that went away shows nothing
	}
}
