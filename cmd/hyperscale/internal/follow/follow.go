package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/export"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/console"
)

// Follower takes a job to its end in front of a person: progress, interrupts, the
// result, files, the summary, the exit code. run, demo, submit and watch share it.
type Follower struct {
	out     *Flags
	outputs []Written
	kind    ui.Kind
	held    *console.Held
	Logger  *slog.Logger
	Signals *command.Interrupts
	Started time.Time
	File    string          // the workflow's, where it has one here
	Run     *report.Run     // the run; nil if the command only watches it
	scraped *export.Scraped // serves metrics; nil without --metrics
	Detach  bool            // an interrupt leaves the job running
	Lost    <-chan error    // reports that the cluster is gone; nil where this process does not watch it
}

// New checks the output flags and begins to catch interrupts.
func New(out *Flags) (*Follower, error) {
	f := &Follower{out: out, Started: time.Now()}
	var err error
	if f.outputs, err = out.Outputs(f.Note); err != nil {
		return nil, err
	}
	for i := range f.outputs {
		if err := f.outputs[i].Check(); err != nil {
			return nil, err
		}
	}
	kind := ui.Kind(out.UI)
	if out.Quiet {
		kind, out.log.Level = ui.None, "error"
	}
	if f.kind, err = kind.Resolve(os.Stderr); err != nil {
		return nil, command.AsUsage(err)
	}
	f.held = console.NewHeld(os.Stderr)
	f.Logger = out.log.Logger(f.held)
	f.Signals = command.CatchInterrupts()
	return f, nil
}

// Close gives the signals back and ends what listens to the job.
func (f *Follower) Close() {
	f.Signals.Release()
	if f.scraped != nil {
		f.scraped.Close()
	}
	for i := range f.outputs {
		if f.outputs[i].server != nil {
			f.outputs[i].server.Close()
		}
	}
}

// apply passes a status to each output that follows the job while it runs.
func (f *Follower) apply(s *message.JobStatus) {
	if f.scraped != nil {
		f.scraped.Apply(s)
	}
	for i := range f.outputs {
		if f.outputs[i].server != nil {
			f.outputs[i].server.Apply(s)
		}
	}
}

// Note prints a message on stderr if no screen is open.
func (f *Follower) Note(format string, args ...any) {
	if !f.out.Quiet {
		fmt.Fprintf(f.held, format+"\n", args...)
	}
}

// Follow watches a job until its result, and answers the first interrupt with a
// cancel, the second by giving up.
func (f *Follower) Follow(ctx context.Context, s *session.Session, job message.JobID, model *ui.Model) (*message.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary, to guard the terminal: %w", err)
	}
	if f.kind == ui.Full {
		f.held.Hold()
		defer func() { _ = f.held.Release() }() // a log that cannot be written has no other place
	}
	progress, err := ui.Open(f.kind, ui.Options{Model: model, Out: os.Stderr, Interrupt: f.Signals.Press, Leaves: f.Detach, Guard: []string{self, guardCommand}})
	if err != nil {
		return nil, err
	}
	defer progress.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := s.Node.Command(ctx, &message.JobWatch{Job: job})
	if err != nil {
		return nil, err
	}
	var given <-chan time.Time // since the first interrupt
	silence := time.NewTimer(session.NewsMax)
	defer silence.Stop()
	for {
		select {
		case m, ok := <-watch.Answers():
			silence.Reset(session.NewsMax)
			if !ok {
				return nil, s.Silent(watch.Err())
			}
			switch m := m.(type) {
			case *message.JobStatus:
				if given != nil {
					asInterrupt(&m.Reason)
				}
				progress.Apply(m)
				f.apply(m)
			case *message.JobResult:
				if given != nil && m.Result.State == message.JobCancelled {
					interrupted(&m.Result)
				}
				return &m.Result, nil
			case *message.Refused:
				return nil, session.Refusal(m)
			default:
				return nil, session.Unexpected(m)
			}
		case <-f.Signals.Asked:
			if f.Detach || given != nil {
				return nil, command.Exit(command.ExitInterrupted, f.farewell(job, s))
			}
			given = time.After(session.CancelMax)
			progress.Note("stopping: ctrl-c once more ends at once")
			if err := cancelJob(ctx, s, job); err != nil {
				return nil, err
			}
		case err := <-f.Lost:
			return nil, err
		case <-silence.C:
			return nil, command.Exit(command.ExitFailed, fmt.Errorf("nothing was heard of job %v for %v: gate %s is gone or cut off; the job may go on", job, session.NewsMax, s.Gates))
		case <-given:
			return nil, command.Exit(command.ExitInterrupted, fmt.Errorf("job %v was asked to stop and has not ended after %v: ask for its state with `%s status`", job, session.CancelMax, command.Called()))
		}
	}
}

// interrupted corrects the reason of a job that this process cancelled: the gate knows this
// client only by a number.
func interrupted(r *message.Result) {
	asInterrupt(&r.Error)
	for i := range r.Workflows {
		asInterrupt(&r.Workflows[i].Error)
	}
	for i := range r.Datacenters {
		d := &r.Datacenters[i]
		asInterrupt(&d.Error)
		for k := range d.Workflows {
			asInterrupt(&d.Workflows[k].Error)
		}
	}
}

// asInterrupt calls a cancel of this process an interrupt.
func asInterrupt(reason *string) {
	*reason = strings.ReplaceAll(*reason, "cancelled by "+string(session.ClientID()), "interrupted")
}

// farewell says what continues after this process.
func (f *Follower) farewell(job message.JobID, s *session.Session) error {
	if f.Detach {
		return fmt.Errorf("job %v goes on: stop it with `%s cancel %v --gate %s`", job, command.Called(), job, strings.ReplaceAll(s.Gates, ", ", ","))
	}
	return errors.New("ended at once: what was running is lost")
}

// cancelJob sends the cancel and does not wait: each watcher receives the result.
func cancelJob(ctx context.Context, s *session.Session, job message.JobID) error {
	order, err := s.Node.Command(ctx, &message.JobCancel{Job: job})
	if err != nil {
		return fmt.Errorf("cancel job %v: %w", job, err)
	}
	go func() {
		for range order.Answers() { // its end comes with ctx
		}
	}()
	return nil
}

// Finish writes files and summary and returns the error that sets the exit code.
func (f *Follower) Finish(cmd *cobra.Command, r *message.Result) error {
	return f.conclude(cmd.OutOrStdout(), r)
}

func (f *Follower) conclude(w io.Writer, r *message.Result) error {
	built, err := report.Build(r, f.Started)
	if err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	built.Run = f.kept()
	var faults []error // a full disk must not take the summary too
	for i := range f.outputs {
		faults = append(faults, f.outputs[i].Write(built))
	}
	if _, err := io.WriteString(w, ui.Summary(built, ui.StyleOf(os.Stdout))); err != nil {
		faults = append(faults, fmt.Errorf("print the summary: %w", err))
	}
	built.Run = f.Run // annotations look up lines
	annotate(f.held, f.File, built)
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if code := exitOf(r); code != command.ExitGood {
		return command.Exit(code, nil)
	}
	return nil
}

// kept is the run as results have it: without source, unless a flag asks for it.
func (f *Follower) kept() *report.Run {
	if f.Run == nil || f.out.Texts {
		return f.Run
	}
	run := *f.Run
	run.Files = slices.Clone(run.Files)
	for i := range run.Files {
		run.Files[i].Text, run.Files[i].Cut = "", false
	}
	return &run
}
