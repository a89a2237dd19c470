package ui

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"hyperscale/core/message"
)

// Kind is how progress is shown.
type Kind string

// The kinds of --ui. Auto becomes one of the others in Resolve.
const (
	Auto Kind = "auto"
	Full Kind = "full"
	CI   Kind = "ci"
	None Kind = "none"
)

// Kinds lists them for a flag.
func Kinds() []string { return []string{string(Auto), string(Full), string(CI), string(None)} }

// Resolve chooses for a terminal: a live screen only where a person looks at one.
func (k Kind) Resolve(out *os.File) (Kind, error) {
	tty := term.IsTerminal(int(out.Fd())) && capable()
	switch {
	case k == Full && !tty:
		return k, fmt.Errorf("--ui full needs a terminal on stderr and TERM to name it (TERM is %q): use --ui ci", os.Getenv("TERM"))
	case k != Auto:
		return k, nil
	case tty && os.Getenv("CI") == "":
		return Full, nil
	}
	return CI, nil
}

// Progress shows a job that runs. Its methods may be called from one goroutine at
// a time.
type Progress interface {
	Apply(*message.JobStatus)
	// Note shows a message that is no status, such as a requested cancel.
	Note(text string)
	// Close leaves the terminal as it was.
	Close()
}

// Options of Open.
type Options struct {
	Model     *Model
	Out       *os.File // stderr
	Interrupt func()   // called when a person asks to stop; must not block
	Leaves    bool     // that leaves the job running
	Page      string   // URL of the live page, which a full screen hides where it was printed; empty: there is none
	Guard     []string // command whose process restores the terminal if this one dies: GuardMain
}

// Open begins to show; kind must be resolved.
func Open(kind Kind, o Options) (Progress, error) {
	switch kind {
	case Full:
		return openLive(o)
	case CI:
		return &lines{model: o.Model, out: o.Out}, nil
	}
	return silent{}, nil
}

type silent struct{}

func (silent) Apply(*message.JobStatus) {}
func (silent) Note(string)              {}
func (silent) Close()                   {}

// lineEvery is the time between two lines: a log of an hour has 1,200 of them.
const lineEvery = 3 * time.Second

// lines prints a line every few seconds, and at each change of state.
type lines struct {
	model *Model
	out   *os.File
	state message.JobState
	last  time.Duration
}

func (l *lines) Apply(s *message.JobStatus) {
	l.model.Apply(s)
	if l.model.State == l.state && l.model.Elapsed-l.last < lineEvery {
		return
	}
	l.state, l.last = l.model.State, l.model.Elapsed
	fmt.Fprintln(l.out, Line(l.model))
}

func (l *lines) Note(text string) { fmt.Fprintln(l.out, strings.TrimRight(text, "\n")) }
func (l *lines) Close()           {}
