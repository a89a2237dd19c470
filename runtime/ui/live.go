package ui

import (
	"fmt"
	"os"
	"sync"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"hyperscale/core/message"
)

// framesPerSecond is low on purpose: the screen shares the machine with the load. It is
// enough for a key to be answered at once; a frame that nothing changed costs nothing.
const framesPerSecond = 10

// live is the full screen.
type live struct {
	program *tea.Program
	guard   *guard
	news    chan *message.JobStatus // the newest that the screen has not taken
	notes   chan note
	closing chan struct{}
	done    sync.WaitGroup
}

func openLive(o Options) (Progress, error) {
	g, err := startGuard(o.Out, o.Guard)
	if err != nil {
		return nil, err
	}
	options := []tea.ProgramOption{tea.WithOutput(o.Out), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		options = append(options, tea.WithInput(nil)) // keys come as signals then
	}
	width, height, err := term.GetSize(int(o.Out.Fd()))
	if err != nil {
		g.release()
		return nil, fmt.Errorf("ask the terminal for its size: %w", err)
	}
	style := StyleOf(o.Out)
	style.Width = width
	l := &live{guard: g, news: make(chan *message.JobStatus, 1), notes: make(chan note, 1), closing: make(chan struct{})}
	s := &screen{model: o.Model, style: style, height: height, view: View{Leaves: o.Leaves}, interrupt: o.Interrupt}
	l.program = tea.NewProgram(s, options...)
	run := func(f func()) { l.done.Go(f) }
	// An error here is a terminal that went away: the job goes on without it.
	run(func() { _, _ = l.program.Run() })
	run(l.pump)
	run(l.stops)
	return l, nil
}

// pump hands news to the screen, which waits as long as its terminal does: whoever
// brings them must not.
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

// Apply replaces what the screen has not taken yet: each status tells everything, but
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
	l.guard.release()
}

type note string

// screen is bubbletea's view of the model; only its loop touches it.
type screen struct {
	model     *Model
	style     Style
	height    int
	view      View
	interrupt func()
}

func (s *screen) Init() tea.Cmd { return nil }

func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case *message.JobStatus:
		s.model.Apply(msg)
	case note:
		s.view.Note = string(msg)
	case tea.WindowSizeMsg:
		s.style.Width, s.height = msg.Width, msg.Height
	case repaint:
		return s, tea.ClearScreen
	case tea.KeyPressMsg:
		return s, s.press(msg.String())
	}
	return s, nil
}

func (s *screen) View() tea.View {
	v := tea.NewView(Screen(s.model, s.style, s.view, s.height))
	v.AltScreen = true
	return v
}
