package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/examples"
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
		Long: `Starts a test server and a whole local cluster, runs examples/quickstart.star
against it, and prints the summary.`,
		Args: command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			f, err := follow.New(&out)
			if err != nil {
				return err
			}
			defer f.Close()
			server, err := startTarget()
			if err != nil {
				return fmt.Errorf("start the test server: %w", err)
			}
			defer server.stop()
			load.Duration, load.Params = duration, []string{"target=" + server.url}
			text, err := examples.Files.ReadFile(examples.Quickstart)
			if err != nil {
				return err
			}
			program, plan, err := source.Load(examples.Quickstart, []message.File{{Name: examples.Quickstart, Data: text}}, nil, &load)
			if err != nil {
				return err
			}
			w := &plan.Workflows[0]
			f.Note("examples/%s against a test server at %s: %d VUs for %v", examples.Quickstart, server.url, w.VUs, w.Duration)
			f.Run = follow.Origin(&program, plan)
			result, err := runLocally(cmd.Context(), f, jobSpec{name: program.Main, program: program, plan: plan})
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
	out.Add(cmd.Flags())
	return cmd
}
