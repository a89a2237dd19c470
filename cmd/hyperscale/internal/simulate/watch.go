package simulate

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/node"
	"hyperscale/scenarios"
	"hyperscale/sim"
	"hyperscale/sim/picture"
	"hyperscale/sim/story"
)

// watchFlags ask for a trace, a picture or a story of a run.
type watchFlags struct {
	trace, picture, story string
	json                  bool
}

func (f *watchFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.trace, "trace", "", "write everything that happens to a `file`, as JSON lines")
	flags.StringVar(&f.picture, "picture", "", "draw the run into a `file`: one HTML page that needs no network")
	flags.StringVar(&f.story, "story", "", "tell what happened to a `job`: its id or key, the beginning of its id, first, or all")
	flags.BoolVar(&f.json, "json", false, "print one line of JSON for each seed, and nothing else")
}

func (f *watchFlags) check(many bool) error {
	for _, file := range []struct{ flag, value string }{{"trace", f.trace}, {"picture", f.picture}, {"story", f.story}} {
		if file.value != "" && many {
			return command.Usage("--%s looks at one run: give one --seed", file.flag)
		}
	}
	if f.story != "" && f.json {
		return command.Usage("--story prints text and --json nothing but JSON: leave one of them out")
	}
	if f.trace != "" && f.trace == f.picture {
		return command.Usage("--trace and --picture both write %s: choose two files", f.trace)
	}
	return nil
}

// watchers hands everything to several observers, in order.
type watchers []sim.Observer

var _ sim.Observer = watchers(nil)

// Input implements sim.Observer.
func (w watchers) Input(at time.Duration, id node.ID, in *node.Input) {
	for _, o := range w {
		o.Input(at, id, in)
	}
}

// Effect implements sim.Observer.
func (w watchers) Effect(at time.Duration, id node.ID, e *sim.Effect) {
	for _, o := range w {
		o.Effect(at, id, e)
	}
}

// Event implements sim.Observer.
func (w watchers) Event(at time.Duration, id node.ID, incarnation uint64, e node.Event) {
	for _, o := range w {
		o.Event(at, id, incarnation, e)
	}
}

// Fault implements sim.Observer.
func (w watchers) Fault(at time.Duration, f sim.Fault) {
	for _, o := range w {
		o.Fault(at, f)
	}
}

// observer is nil without watchers: such a run pays nothing.
func (w watchers) observer() sim.Observer {
	if len(w) == 0 {
		return nil
	}
	return w
}

// watched is one run with its observers.
type watched struct {
	flags   *watchFlags
	trace   *os.File
	picture *os.File
	story   *story.Recorder
	drawing *picture.Recorder
	again   string // the command that plays it again, if it is not of a seed
}

// createFor makes a file that a flag names.
func createFor(flag, name string) (*os.File, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, command.Usage("--%s: %w: choose a file in a folder that exists and is writable", flag, err)
	}
	return f, nil
}

// unwritten is the end of a file that could be made but not filled.
func unwritten(flag string, err error) error {
	return command.Usage("--%s: %w: choose a file on a disk that has room", flag, err)
}

// watch opens the files first, so that no run is lost to a bad file.
func (f *watchFlags) watch() (*watched, error) {
	w := &watched{flags: f}
	var err error
	if f.trace != "" {
		if w.trace, err = createFor("trace", f.trace); err != nil {
			return nil, err
		}
	}
	if f.picture != "" {
		if w.picture, err = createFor("picture", f.picture); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

func (w *watched) close() {
	for _, f := range []*os.File{w.trace, w.picture} {
		if f != nil {
			_ = f.Close() // the data was flushed, and its error reported
		}
	}
}

// play plays the scenario and writes the requested outputs except the story.
func (w *watched) play(s scenarios.Scenario, o scenarios.Options) (r scenarios.Report, took time.Duration, err error) {
	var all watchers
	var buffer *bufio.Writer
	var tracer *sim.Tracer
	if w.trace != nil {
		buffer = bufio.NewWriterSize(w.trace, 1<<20)
		tracer = sim.NewTracer(buffer)
		all = append(all, tracer)
	}
	if w.flags.story != "" {
		w.story = story.NewRecorder()
		all = append(all, w.story)
	}
	if w.picture != nil {
		w.drawing = picture.NewRecorder(picture.FromBeginning)
		all = append(all, w.drawing)
	}
	o.Observer = all.observer()
	start := time.Now()
	r = s.Run(o)
	took = time.Since(start)
	if tracer != nil {
		if err := errors.Join(tracer.Err(), buffer.Flush()); err != nil {
			return r, took, unwritten("trace", err)
		}
	}
	if w.picture != nil {
		err = w.draw(s, o, &r)
	}
	return r, took, err
}

// draw writes the picture. A run that failed is played once more: only now is it
// known where to look.
func (w *watched) draw(s scenarios.Scenario, o scenarios.Options, r *scenarios.Report) error {
	about := picture.About{
		Title:  fmt.Sprintf("%s, seed %d: %s", r.Scenario, r.Seed, r.Outcome),
		Notes:  []string{cmp.Or(w.again, repro(r.Scenario, r.Seed, lastsFor(r, o), o.Wire)), "Played by " + builtFrom() + "."},
		Healed: r.Healed,
	}
	if r.Outcome != scenarios.OK {
		about.Broken, about.BrokenAt = r.Detail, r.Virtual
		if len(r.Violations) > 0 {
			about.BrokenAt, about.BrokenOn = r.Violations[0].At, r.Violations[0].Node
		}
		w.drawing = picture.NewRecorder(about.BrokenAt)
		o.Observer = w.drawing
		s.Run(o)
	}
	if err := w.drawing.Write(w.picture, about); err != nil {
		return unwritten("picture", err)
	}
	return nil
}

// tell writes the story, if one was asked for.
func (w *watched) tell(out io.Writer) error {
	if w.story == nil {
		return nil
	}
	if err := w.story.Tell(out, w.flags.story); errors.Is(err, story.ErrNoJob) {
		return command.Usage("--story: %w", err)
	} else if err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}
