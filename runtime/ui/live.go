package ui

import (
	"fmt"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"hyperscale/core/message"
	"hyperscale/runtime/ui/console"
)

// framesPerSecond is low on purpose: the screen shares the machine with the load. It is
// enough for a key to be answered at once; a frame that nothing changed costs nothing.
const framesPerSecond = 10

// The clock moves between statuses, which come twice a second; it waits for one that is
// missing.
const (
	clockEvery = 250 * time.Millisecond
	aheadMost  = time.Second
)

// live is the full screen.
type live struct {
	program *tea.Program
	guard   *console.Guard
	news    chan *message.JobStatus // the newest that the screen has not taken
	notes   chan note
	closing chan struct{}
	done    sync.WaitGroup
}

func openLive(o Options) (Progress, error) {
	g, err := console.StartGuard(o.Out, o.Guard)
	if err != nil {
		return nil, err
	}
	canvas := &console.Painter{File: o.Out}
	options := []tea.ProgramOption{tea.WithOutput(canvas), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		options = append(options, tea.WithInput(nil)) // keys come as signals then
	}
	width, height, err := term.GetSize(int(o.Out.Fd()))
	if err != nil {
		g.Release()
		return nil, fmt.Errorf("ask the terminal for its size: %w", err)
	}
	style := StyleOf(o.Out)
	style.Width = width
	l := &live{guard: g, news: make(chan *message.JobStatus, 1), notes: make(chan note, 1), closing: make(chan struct{})}
	s := &screen{painter: canvas, model: o.Model, style: style, height: height, view: View{Leaves: o.Leaves, Page: o.Page}, interrupt: o.Interrupt}
	l.program = tea.NewProgram(s, options...)
	run := func(f func()) { l.done.Go(f) }
	// An error here is a terminal that went away: the job continues without it.
	run(func() { _, _ = l.program.Run() })
	run(l.pump)
	run(func() { console.Suspends(l.program, canvas, l.closing) })
	return l, nil
}

// pump passes news to the screen, which waits as long as its terminal does: the goroutine that
// brings the news must not.
func (l *live) pump() {
	for {
		select {
		case s := <-l.news:
			l.program.Send(s)
		case n := <-l.notes:
			l.program.Send(n)
		case <-l.closing:
			return
		}
	}
}

// Apply replaces the status that the screen has not shown yet. Each status is complete, except
// for the plan, which only the first one has.
func (l *live) Apply(s *message.JobStatus) {
	select {
	case missed := <-l.news:
		if len(s.Plan) == 0 && len(missed.Plan) > 0 {
			both := *s
			both.Plan = missed.Plan
			s = &both
		}
	default:
	}
	l.news <- s
}

// Note replaces the note before.
func (l *live) Note(text string) {
	select {
	case <-l.notes:
	default:
	}
	l.notes <- note(text)
}

func (l *live) Close() {
	close(l.closing)
	l.program.Quit()
	l.done.Wait()
	l.guard.Release()
}

type note string

// beat moves the clock.
type beat struct{}

func nextBeat() tea.Cmd { return tea.Tick(clockEvery, func(time.Time) tea.Msg { return beat{} }) }

// screen is bubbletea's view of the model; only its loop touches it.
type screen struct {
	painter   *console.Painter
	model     *Model
	style     Style
	height    int
	view      View
	interrupt func()
	heard     time.Time // when the newest status came
}

func (s *screen) Init() tea.Cmd { return nextBeat() }

func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case *message.JobStatus:
		s.hear(msg)
	case beat:
		s.view.Ahead = max(s.view.Ahead, min(time.Since(s.heard), aheadMost))
		return s, nextBeat()
	case note:
		s.view.Note = string(msg)
	case tea.WindowSizeMsg:
		s.style.Width, s.height = msg.Width, msg.Height
	case console.Repaint:
		return s, tea.ClearScreen
	case tea.KeyPressMsg:
		return s, s.press(msg.String())
	}
	return s, nil
}

// hear takes a status. A clock that was ahead of it waits instead of turning back.
func (s *screen) hear(status *message.JobStatus) {
	shown, _ := s.model.at(s.view)
	s.model.Apply(status)
	s.heard, s.view.Ahead = time.Now(), 0
	told, _ := s.model.at(s.view)
	s.view.Ahead = min(max(0, shown-told), aheadMost)
}

// View paints. To bubbletea the screen is always empty: it has nothing to compare.
func (s *screen) View() tea.View {
	lines, _ := draw(s.model, s.style, s.view, s.height)
	s.painter.Show(lines, s.style.Width)
	v := tea.NewView(" ")
	v.AltScreen = true
	return v
}
