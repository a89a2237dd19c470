package ui

import (
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"hyperscale/core/message"
)

// framesPerSecond is low on purpose: the screen shares the machine with the load.
const framesPerSecond = 10

// live is the full screen.
type live struct {
	program *tea.Program
	guard   *guard
	done    chan struct{}
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
	l := &live{guard: g, done: make(chan struct{})}
	l.program = tea.NewProgram(&screen{model: o.Model, style: style, height: height, interrupt: o.Interrupt}, options...)
	go func() {
		defer close(l.done)
		// An error here is a terminal that went away: the job goes on without it.
		_, _ = l.program.Run()
	}()
	return l, nil
}

func (l *live) Apply(s *message.JobStatus) { l.program.Send(s) }
func (l *live) Note(text string)           { l.program.Send(note(text)) }

func (l *live) Close() {
	l.program.Quit()
	<-l.done
	l.guard.release()
}

type note string

// screen is bubbletea's view of the model; only its loop touches it.
type screen struct {
	model     *Model
	style     Style
	height    int
	note      string
	interrupt func()
}

func (s *screen) Init() tea.Cmd { return nil }

func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case *message.JobStatus:
		s.model.Apply(msg)
	case note:
		s.note = string(msg)
	case tea.WindowSizeMsg:
		s.style.Width, s.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+c" {
			s.interrupt()
		}
	}
	return s, nil
}

func (s *screen) View() tea.View {
	text := Screen(s.model, s.style, s.height-1)
	if s.note != "" {
		text += "\n" + s.style.paint(warn, fit(" "+s.note, s.style.Width))
	}
	v := tea.NewView(text)
	v.AltScreen = true
	return v
}
