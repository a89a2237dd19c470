package main

import (
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/runtime/ui"
)

func newSubmitCommand() *cobra.Command {
	var (
		load        source.Flags
		out         follow.Flags
		gate        session.Flags
		datacenters []string
		wait        bool
		key         string
	)
	cmd := &cobra.Command{
		Use:   "submit FILE",
		Short: "run a load test on a cluster; prints the job's id",
		Example: "  job=$(hyperscale submit test.star --gate gate-1:9000)\n" +
			"  hyperscale submit test.star --gate gate-1:9000 --datacenters east,west --wait",
		Args: command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"ui", "out"} {
				if cmd.Flags().Changed(name) && !wait {
					return command.Usage("--%s goes with --wait: add it, or follow the job with `%s watch`", name, command.Called())
				}
			}
			program, plan, err := source.Read(args[0], &load, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if wait {
				out.Report(plan)
			}
			follower, err := follow.New(&out)
			if err != nil {
				return err
			}
			defer follower.Close()
			follower.File, follower.Run = args[0], follow.Origin(&program, plan)
			gate.Near = len(program.Secrets) > 0
			s, err := session.Dial(&gate, follower.Logger)
			if err != nil {
				return err
			}
			defer s.Close()
			if key == "" {
				key = rand.Text()
			}
			job, err := follower.Submit(cmd.Context(), s, &message.JobSubmit{Key: key, Name: program.Main, Program: program, Plan: *plan, Datacenters: datacenters})
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), job); err != nil {
				return err
			}
			if !wait {
				return follower.Leave(job)
			}
			result, err := follower.Follow(cmd.Context(), s, job, ui.NewModel(program.Main, plan))
			if err != nil {
				return err
			}
			return follower.Finish(cmd, result)
		}),
	}
	flags := cmd.Flags()
	gate.Add(cmd)
	load.Add(flags)
	load.AddSecrets(flags)
	flags.StringSliceVar(&datacenters, "datacenters", nil, "`names` of where to run, by comma; one that the gate chooses if not given")
	flags.BoolVar(&wait, "wait", false, "follow the job to its end: summary and exit code as of run; ctrl-c cancels it")
	flags.StringVar(&key, "key", "", "submitting the same twice with one key is one job")
	out.Add(flags)
	return cmd
}
