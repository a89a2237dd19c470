package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/export"
	"hyperscale/runtime/live"
	"hyperscale/runtime/outputs/feed"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/console"
	"hyperscale/runtime/ui/units"
)

// Follower takes a job to its end in front of a person: progress, interrupts, the
// result, files, the summary, the exit code. run, demo, submit and watch share it.
type Follower struct {
	out     *Flags
	outputs []Written
	sinks   []*sink
	rows    feed.Deliveries // of the sinks
	cluster []report.Sink   // of the gates that deliver the job, as they told last
	late    report.Lateness // when those were behind
	kind    ui.Kind
	held    *console.Held
	Logger  *slog.Logger
	Signals *command.Interrupts
	Started time.Time
	File    string           // the workflow's, where it has one here
	Run     *report.Run      // the run; nil if the command only watches it
	scraped *export.Scraped  // serves metrics; nil without --metrics
	live    *live.Server     // serves the live page; nil without --live
	Detach  bool             // an interrupt leaves the job running
	Lost    <-chan error     // reports that the cluster is gone; nil where this process does not watch it
	given   <-chan time.Time // since the first interrupt; nil before it
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
	if err := f.openSinks(); err != nil {
		return nil, err
	}
	if f.live, err = liveAt(out.live, f.Logger); err != nil {
		f.rows.Close()
		return nil, err
	}
	if f.live != nil {
		f.Note("live page of this job: %s", f.live.URL())
	}
	f.Signals = command.CatchInterrupts()
	return f, nil
}

// openSinks begins to deliver rows to places, and checks them.
func (f *Follower) openSinks() (err error) {
	if f.sinks, err = f.out.sinksOf(); err != nil {
		return err
	}
	for _, s := range f.sinks {
		f.rows.Add(s.shell, s.settings.Window())
	}
	for _, s := range f.sinks {
		if err := s.check(f.Note); err != nil {
			f.rows.Close()
			return err
		}
	}
	return nil
}

// Release gives the signals back and ends what listens to the job.
func (f *Follower) Release() {
	f.Signals.Release()
	if f.scraped != nil {
		f.scraped.Close()
	}
	if f.live != nil {
		f.live.Close()
	}
	f.rows.Close()
	for i := range f.outputs {
		if f.outputs[i].server != nil {
			f.outputs[i].server.Close()
		}
	}
}

// apply passes a status to each output that follows the job while it runs.
func (f *Follower) apply(s *message.JobStatus) {
	f.late.See(s)
	if f.scraped != nil {
		f.scraped.Apply(s)
	}
	if f.live != nil {
		f.live.Apply(s)
	}
	f.rows.Apply(s)
	for i := range f.outputs {
		if f.outputs[i].server != nil {
			f.outputs[i].server.Apply(s)
		}
	}
}

// page is the URL of the live page; empty: there is none.
func (f *Follower) page() string {
	if f.live == nil {
		return ""
	}
	return f.live.URL()
}

// Note prints a message on stderr if no screen is open.
func (f *Follower) Note(format string, args ...any) {
	if !f.out.Quiet {
		_, _ = io.WriteString(f.held, units.CleanLines(fmt.Sprintf(format, args...))+"\n") // a terminal that has gone; what a sink says stands in it
	}
}

// Follow watches a job until its result, and answers the first interrupt with a
// cancel, the second by giving up.
func (f *Follower) Follow(ctx context.Context, s *session.Session, job message.JobID, model *ui.Model) (*message.Result, error) {
	result, err := f.follow(ctx, s, job, model)
	if err != nil {
		f.leaveSinks()
	}
	return result, err
}

// leaveMax is how long outputs may take their last rows where the command leaves the job before its end.
const leaveMax = 2 * time.Second

// leaveSinks delivers the rows so far, and says what each place has: no result will.
func (f *Follower) leaveSinks() {
	ctx, cancel := context.WithTimeout(context.Background(), min(f.out.wait, leaveMax))
	defer cancel()
	for _, o := range f.rows.Leave(ctx) {
		out := reported(&o)
		f.Note("--out %s: %s; the end of the job is not among them", o.Name, out.Text())
	}
}

func (f *Follower) follow(ctx context.Context, s *session.Session, job message.JobID, model *ui.Model) (*message.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary, to guard the terminal: %w", err)
	}
	if f.kind == ui.Full {
		f.held.Hold()
		defer func() { _ = f.held.Release() }() // a log that cannot be written has no other place
	}
	progress, err := ui.Open(f.kind, ui.Options{Model: model, Out: os.Stderr, Interrupt: f.Signals.Press, Leaves: f.Detach, Page: f.page(), Guard: []string{self, guardCommand}})
	if err != nil {
		return nil, err
	}
	defer progress.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	news, err := begin(ctx, job, s.Command)
	if err != nil {
		return nil, err
	}
	asked := quiet{every: session.NewsEvery}
	defer asked.stop()
	for {
		select {
		case m, ok := <-news.Answers():
			asked.heard()
			if !ok {
				return nil, s.Silent(news.Err())
			}
			news.took(m)
			switch m := m.(type) {
			case *message.JobStatus:
				f.show(s, progress, m)
			case *message.WorkflowEnded:
				progress.Note(ui.EndLine(m))
			case *message.JobResult:
				return f.ended(s, &m.Result, f.awaitCluster(ctx, s, job, m.Sinks)), nil
			case *message.Refused:
				return nil, session.Refusal(m)
			default:
				return nil, session.Unexpected(m)
			}
		case <-f.Signals.Asked:
			if f.Detach || f.given != nil {
				return nil, command.Exit(command.ExitInterrupted, f.farewell(job, s))
			}
			progress.Note(f.stopping(job))
			if err := f.cancel(ctx, s, job); err != nil {
				return nil, err
			}
		case err := <-f.Lost:
			return nil, err
		case <-asked.due():
			if err := asked.ask(ctx, s, job); err != nil {
				return nil, err
			}
		case m, ok := <-asked.answers():
			if m, told := m.(*message.JobStatus); ok && told {
				f.show(s, progress, m)
			}
			if err := errors.Join(news.again(ctx, m, s.Command), asked.answered(ok, m)); err != nil {
				return nil, command.Exit(command.ExitFailed, fmt.Errorf("nothing was heard of job %v for %v: %s: %w; the job may go on", job, asked.since().Round(time.Second), s.Gates, err))
			}
		case <-f.given:
			return nil, f.unended(job, s)
		}
	}
}

// show passes a status to the screen and to the outputs that follow the job.
func (f *Follower) show(s *session.Session, progress ui.Progress, m *message.JobStatus) {
	if f.given != nil {
		m.Reason = s.Interrupted(m.Reason)
	}
	progress.Apply(m)
	f.apply(m)
}

// ended takes the job's end, and how far its sinks are.
func (f *Follower) ended(s *session.Session, r *message.Result, sinks message.SinkReports) *message.Result {
	if f.given != nil && r.State == message.JobCancelled {
		interrupted(s, r)
	}
	if f.live != nil {
		f.live.Finish(r, sinks)
	}
	return r
}

// unended reports a job that was asked to stop and has not.
func (f *Follower) unended(job message.JobID, s *session.Session) error {
	return command.Exit(command.ExitInterrupted, fmt.Errorf("no word of the end of job %v, %v after it was asked to stop: %w", job, session.CancelMax, f.farewell(job, s)))
}

// interrupted corrects the reason of a job that this process cancelled: the gate knows this
// client only by a number.
func interrupted(s *session.Session, r *message.Result) {
	r.Error = s.Interrupted(r.Error)
	for i := range r.Workflows {
		r.Workflows[i].Error = s.Interrupted(r.Workflows[i].Error)
	}
	for i := range r.Datacenters {
		d := &r.Datacenters[i]
		d.Error = s.Interrupted(d.Error)
		for k := range d.Workflows {
			d.Workflows[k].Error = s.Interrupted(d.Workflows[k].Error)
		}
	}
}

// stopping says what the first interrupt did.
func (f *Follower) stopping(job message.JobID) string {
	if f.Lost != nil {
		return "stopping: ctrl-c once more ends at once"
	}
	return fmt.Sprintf("stopping: job %v is asked to cancel; ctrl-c once more leaves at once", job)
}

// farewell says what continues after this process.
func (f *Follower) farewell(job message.JobID, s *session.Session) error {
	stop := fmt.Sprintf("`%s cancel %v %s`", command.Called(), job, s.Flags)
	switch {
	case f.Detach:
		return fmt.Errorf("job %v goes on: stop it with %s", job, stop)
	case f.Lost == nil:
		return fmt.Errorf("job %v may still run: stop it with %s", job, stop)
	}
	return errors.New("ended at once: what was running is lost")
}

// cancel sends the cancel and does not wait: each watcher receives the result.
func (f *Follower) cancel(ctx context.Context, s *session.Session, job message.JobID) error {
	if f.given == nil {
		f.given = time.After(session.CancelMax)
	}
	order, err := s.Command(ctx, s.Interrupt(job))
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
	built.Run, built.Sinks = f.kept(), f.cluster
	var faults []error // a full disk must not take the summary too
	faults = append(faults, lacking(built.Sinks), errors.Join(f.finishSinks(r, built)...))
	faults = append(faults, f.write(built)...)
	if _, err := io.WriteString(w, ui.Summary(built, ui.StyleOf(os.Stdout))); err != nil {
		faults = append(faults, fmt.Errorf("print the summary: %w", err))
	}
	if _, err := io.WriteString(w, f.keep(built)); err != nil {
		faults = append(faults, fmt.Errorf("print what the history says: %w", err))
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

// write writes the result to all outputs. An interrupt ends the wait for servers.
func (f *Follower) write(built *report.Result) (faults []error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-f.Signals.Asked:
			cancel()
		case <-ctx.Done():
		}
	}()
	for i := range f.outputs {
		faults = append(faults, f.outputs[i].Write(ctx, built))
	}
	return faults
}

// finishSinks delivers the end of the job. An interrupt ends the wait.
func (f *Follower) finishSinks(r *message.Result, built *report.Result) (faults []error) {
	ctx, cancel := context.WithTimeout(context.Background(), f.out.wait)
	defer cancel()
	go func() {
		select {
		case <-f.Signals.Asked:
			cancel()
		case <-ctx.Done():
		}
	}()
	told := time.AfterFunc(time.Second, func() {
		f.Note("outputs take their last rows: the command waits for up to %v, ctrl-c ends that", f.out.wait)
	})
	defer told.Stop()
	for _, o := range f.rows.Finish(ctx, r, built) {
		out := reported(&o)
		built.Outputs = append(built.Outputs, out)
		if !o.Whole() {
			faults = append(faults, fmt.Errorf("--out %s: %s", o.Name, out.Text()))
		}
	}
	return faults
}

// keep puts a run into the history. It returns the lines that end the summary.
func (f *Follower) keep(r *report.Result) string {
	if f.out.history == nil || *f.out.history == HistoryOff {
		return ""
	}
	lines, err := keepIn(*f.out.history, r)
	if err != nil {
		f.Note("this run is not in the history: %v; --history off keeps none", err)
	}
	return lines
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
