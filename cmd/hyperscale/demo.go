package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	figures "hyperscale/core/stats"
	"hyperscale/examples"
	"hyperscale/runtime/ui/units"
)

// The demo first measures what the machine manages, and then asks for less: a generator at its
// limit measures itself.
const (
	demoProbe = 1500 * time.Millisecond
	demoShare = 70   // per cent
	demoUsers = 1000 // at most: a pause of the machine finds enough of them free
)

// demoNext names commands to try.
func demoNext() string {
	return "\nWhat to try next:\n" + command.Hints(
		[2]string{"new test.star", "write a test of your own"},
		[2]string{"target --listen 127.0.0.1:8080", "something to try it against"},
		[2]string{"run test.star", "run it"},
		[2]string{"run http://127.0.0.1:8080/ --vus 500", "or test one address"},
	)
}

func newDemoCommand() *cobra.Command {
	var (
		out      follow.Flags
		load     source.Flags
		duration time.Duration
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "watch a load test end to end, in a few seconds",
		Long: `Starts a test server and a whole local cluster, and runs examples/quickstart.star
against it. A run of 1.5 s measures what this machine manages. The demo then asks
for 70 % of that rate, and prints the summary.`,
		Args: command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			f, err := follow.New(&out)
			if err != nil {
				return err
			}
			defer f.Release()
			server, err := startTarget()
			if err != nil {
				return fmt.Errorf("start the test server: %w", err)
			}
			defer server.stop()
			load.Params = []string{"target=" + server.url}
			text, err := examples.Files.ReadFile(examples.Quickstart)
			if err != nil {
				return err
			}
			read := func() (message.Program, *message.Plan, error) {
				return source.Load(examples.Quickstart, []message.File{{Name: examples.Quickstart, Data: text}}, nil, &load)
			}
			load.Duration = demoProbe
			spec := jobSpec{name: examples.Quickstart}
			if spec.program, spec.plan, err = read(); err != nil {
				return err
			}
			f.Note("examples/%s against a test server at %s", examples.Quickstart, server.url)
			spec.adjust = func(ctx context.Context, s *session.Session, spec *jobSpec) error {
				most, err := probe(ctx, f, s, *spec)
				if err != nil {
					return err
				}
				load.Duration = duration
				if rate := most * demoShare / 100; rate > 0 {
					load.VUs = demoUsers
					load.SetRate(rate)
					f.Note("this machine and its server manage %s/s: the demo asks %d %% of that, so that the figures are the server's, for %v", units.Milli(most*1000), demoShare, duration)
				}
				spec.program, spec.plan, err = read()
				f.Run = follow.Origin(&spec.program, spec.plan)
				return err
			}
			result, err := runLocally(cmd.Context(), f, spec)
			if err != nil {
				return err
			}
			verdict := f.Finish(cmd, result)
			if !out.Quiet {
				_, err = io.WriteString(cmd.OutOrStdout(), demoNext())
			}
			return errors.Join(verdict, err)
		}),
	}
	command.AddSpan(cmd.Flags(), &duration, "duration", 5*time.Second, time.Second, "how long to send load")
	out.AddKeeping(cmd.Flags())
	return cmd
}

// probe runs a job without a screen and returns how many requests a second it sent.
func probe(ctx context.Context, f *follow.Follower, s *session.Session, spec jobSpec) (uint64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	job, err := f.Submit(ctx, s, &message.JobSubmit{Key: rand.Text(), Name: spec.name, Program: spec.program, Plan: *spec.plan})
	if err != nil {
		return 0, err
	}
	watch, err := s.Command(ctx, &message.JobWatch{Job: job})
	if err != nil {
		return 0, err
	}
	for {
		select {
		case m, ok := <-watch.Answers():
			if !ok {
				return 0, s.Silent(watch.Err())
			}
			switch m := m.(type) {
			case *message.JobStatus, *message.WorkflowEnded:
			case *message.JobResult:
				return rateOf(&m.Result), nil
			default:
				return 0, session.Unexpected(m)
			}
		case <-f.Signals.Asked:
			return 0, command.Exit(command.ExitInterrupted, errors.New("interrupted before the load began"))
		}
	}
}

// rateOf is the requests a second of a result's only workflow; zero if it sent none.
func rateOf(r *message.Result) uint64 {
	if len(r.Workflows) == 0 {
		return 0
	}
	w := &r.Workflows[0].Stats
	return uint64(float64(figures.Started(w)) / max(w.Elapsed.Seconds(), 1e-3))
}
