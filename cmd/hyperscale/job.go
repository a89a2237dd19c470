package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/core/message"
	"hyperscale/runtime/export"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
)

// follower takes a job to its end in front of a person: progress, interrupts, the
// result, files, the summary, the exit code. run, demo, submit and watch share it.
type follower struct {
	out     *outputFlags
	outputs []written
	kind    ui.Kind
	held    *ui.Held
	logger  *slog.Logger
	signals *interrupts
	started time.Time
	file    string          // the workflow's, where it has one here
	run     *report.Run     // what is run; nil if it is only watched
	scraped *export.Scraped // answers who asks for metrics; nil for nobody
	detach  bool            // an interrupt leaves the job running
	lost    <-chan error    // tells that the cluster is gone; nil if nobody could know
}

// newFollower checks the output flags and begins to catch interrupts.
func newFollower(out *outputFlags) (*follower, error) {
	f := &follower{out: out, started: time.Now()}
	var err error
	if f.outputs, err = out.outputs(f.note); err != nil {
		return nil, err
	}
	for i := range f.outputs {
		if err := f.outputs[i].check(); err != nil {
			return nil, err
		}
	}
	kind := ui.Kind(out.ui)
	if out.quiet {
		kind, out.log.level = ui.None, "error"
	}
	if f.kind, err = kind.Resolve(os.Stderr); err != nil {
		return nil, asUsage(err)
	}
	f.held = ui.NewHeld(os.Stderr)
	f.logger = out.log.logger(f.held)
	f.signals = catchInterrupts()
	return f, nil
}

// writable finds out before the run that a result will find its place after it.
func writable(name string) error {
	_, err := os.Stat(name)
	if file, opened := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644); opened != nil {
		return fmt.Errorf("cannot be written: choose another file: %w", opened)
	} else if err := file.Close(); err != nil {
		return err
	}
	if err != nil {
		return os.Remove(name) // it was not there before: it appears whole or not at all
	}
	return nil
}

func (f *follower) close() {
	f.signals.release()
	if f.scraped != nil {
		f.scraped.Close()
	}
	for i := range f.outputs {
		if f.outputs[i].server != nil {
			f.outputs[i].server.Close()
		}
	}
}

// apply hands a status on to who is told while the job runs.
func (f *follower) apply(s *message.JobStatus) {
	if f.scraped != nil {
		f.scraped.Apply(s)
	}
	for i := range f.outputs {
		if f.outputs[i].server != nil {
			f.outputs[i].server.Apply(s)
		}
	}
}

// note tells something on stderr when no screen is open.
func (f *follower) note(format string, args ...any) {
	if !f.out.quiet {
		fmt.Fprintf(f.held, format+"\n", args...)
	}
}

// follow watches a job until its result, and answers the first interrupt with a
// cancel, the second by giving up.
func (f *follower) follow(ctx context.Context, s *session, job message.JobID, model *ui.Model) (*message.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary, to guard the terminal: %w", err)
	}
	if f.kind == ui.Full {
		f.held.Hold()
		defer func() { _ = f.held.Release() }() // a log that cannot be written has no other place
	}
	progress, err := ui.Open(f.kind, ui.Options{Model: model, Out: os.Stderr, Interrupt: f.signals.press, Leaves: f.detach, Guard: []string{self, guardCommand}})
	if err != nil {
		return nil, err
	}
	defer progress.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := s.node.Command(ctx, &message.JobWatch{Job: job})
	if err != nil {
		return nil, err
	}
	var given <-chan time.Time // since the first interrupt
	silence := time.NewTimer(newsMax)
	defer silence.Stop()
	for {
		select {
		case m, ok := <-watch.Answers():
			silence.Reset(newsMax)
			if !ok {
				return nil, s.silent(watch.Err())
			}
			switch m := m.(type) {
			case *message.JobStatus:
				progress.Apply(m)
				f.apply(m)
			case *message.JobResult:
				if given != nil && m.Result.State == message.JobCancelled {
					interrupted(&m.Result)
				}
				return &m.Result, nil
			case *message.Refused:
				return nil, refusal(m)
			default:
				return nil, unexpected(m)
			}
		case <-f.signals.asked:
			if f.detach || given != nil {
				return nil, exitWith(exitInterrupted, f.farewell(job))
			}
			given = time.After(cancelMax)
			progress.Note("stopping: ctrl-c once more ends at once")
			if err := cancelJob(ctx, s, job); err != nil {
				return nil, err
			}
		case err := <-f.lost:
			return nil, err
		case <-silence.C:
			return nil, exitWith(exitFailed, fmt.Errorf("nothing was heard of job %v for %v: gate %s is gone or cut off; the job may go on", job, newsMax, s.gates))
		case <-given:
			return nil, exitWith(exitInterrupted, fmt.Errorf("job %v was asked to stop and has not ended after %v: ask for its state with `hyperscale status`", job, cancelMax))
		}
	}
}

// interrupted calls the end of a job that this process cancelled what it is to its
// reader: the gate knows this client by a number.
func interrupted(r *message.Result) {
	plain := func(text *string) {
		*text = strings.ReplaceAll(*text, "cancelled by "+string(clientID()), "interrupted")
	}
	plain(&r.Error)
	for i := range r.Workflows {
		plain(&r.Workflows[i].Error)
	}
	for i := range r.Datacenters {
		d := &r.Datacenters[i]
		plain(&d.Error)
		for k := range d.Workflows {
			plain(&d.Workflows[k].Error)
		}
	}
}

// farewell says what goes on after this process.
func (f *follower) farewell(job message.JobID) error {
	if f.detach {
		return fmt.Errorf("job %v goes on: stop it with `hyperscale cancel %v --gate ADDR`", job, job)
	}
	return errors.New("ended at once: what was running is lost")
}

// cancelJob asks and does not wait: the result will come to whoever watches.
func cancelJob(ctx context.Context, s *session, job message.JobID) error {
	command, err := s.node.Command(ctx, &message.JobCancel{Job: job})
	if err != nil {
		return fmt.Errorf("cancel job %v: %w", job, err)
	}
	go func() {
		for range command.Answers() { // its end comes with ctx
		}
	}()
	return nil
}

// finish writes files and summary and returns what the exit code is made of.
func (f *follower) finish(cmd *cobra.Command, r *message.Result) error {
	return f.conclude(cmd.OutOrStdout(), r)
}

func (f *follower) conclude(w io.Writer, r *message.Result) error {
	built, err := report.Build(r, f.started)
	if err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	built.Run = f.run
	var faults []error // a full disk must not take the summary too
	for i := range f.outputs {
		faults = append(faults, f.outputs[i].write(built))
	}
	if _, err := io.WriteString(w, ui.Summary(built, ui.StyleOf(os.Stdout))); err != nil {
		faults = append(faults, fmt.Errorf("print the summary: %w", err))
	}
	annotate(f.held, f.file, built)
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if code := exitOf(r); code != exitGood {
		return exitWith(code, nil)
	}
	return nil
}
