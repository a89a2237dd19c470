package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"golang.org/x/term"
)

// How often progress is reported. For a log that a user follows a line in 5 s is enough, and
// the log of an hour stays short.
const (
	onTerminal = 200 * time.Millisecond
	inLog      = 5 * time.Second
)

// Line shows progress in one place. Only one goroutine may use it at a time.
type Line struct {
	out      io.Writer
	terminal bool
	moving   bool // something stands in the line that moves
	shown    time.Time
}

// Terminal says whether a line can move there.
func Terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	return term.IsTerminal(int(file.Fd()))
}

// New begins now: the first line comes when it is due.
func New(out io.Writer, terminal bool, now time.Time) *Line {
	return &Line{out: out, terminal: terminal, shown: now}
}

// Tell shows what text says, if that is due: else text is not called.
func (l *Line) Tell(now time.Time, text func() string) {
	every := inLog
	if l.terminal {
		every = onTerminal
	}
	if now.Sub(l.shown) < every {
		return
	}
	l.shown = now
	if !l.terminal {
		_, _ = fmt.Fprintln(l.out, text()) // an error of the output has no place to go
		return
	}
	l.moving = true
	_, _ = fmt.Fprintf(l.out, "\r\x1b[K%s", text()) // the same
}

// Clear takes the line that moves away.
func (l *Line) Clear() {
	if l.moving {
		l.moving = false
		_, _ = fmt.Fprint(l.out, "\r\x1b[K") // as in Tell
	}
}

// Left guesses how long it still takes after some work of some whole: in any unit, as long as
// it is the same.
func Left(took time.Duration, done, whole float64) (time.Duration, bool) {
	if !(done > 0) {
		return 0, false
	}
	left := float64(took) / done * math.Max(0, whole-done)
	return time.Duration(math.Min(left, math.MaxInt64/2)).Round(time.Second), true
}
