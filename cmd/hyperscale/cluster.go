package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/core/message"
	"hyperscale/runtime/ui"
)

func newSubmitCommand() *cobra.Command {
	var (
		load        loadFlags
		out         outputFlags
		gate        gateFlag
		datacenters []string
		wait        bool
		key         string
	)
	cmd := &cobra.Command{
		Use:   "submit FILE",
		Short: "run a load test on a cluster; prints the job's id",
		Example: "  job=$(hyperscale submit test.star --gate gate-1:9000)\n" +
			"  hyperscale submit test.star --gate gate-1:9000 --datacenters east,west --wait",
		Args: exactly("FILE"),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"ui", "out", "quiet"} {
				if cmd.Flags().Changed(name) && !wait {
					return usage("--%s goes with --wait: add it, or follow the job with `hyperscale watch`", name)
				}
			}
			program, plan, err := readProgram(args[0], &load)
			if err != nil {
				return err
			}
			if wait {
				out.report(plan)
			}
			follower, err := newFollower(&out)
			if err != nil {
				return err
			}
			defer follower.close()
			follower.file, follower.run = args[0], origin(&program)
			s, err := dial(&gate, follower.logger)
			if err != nil {
				return err
			}
			defer s.close()
			if key == "" {
				key = rand.Text()
			}
			job, err := submit(cmd.Context(), s, &message.JobSubmit{Key: key, Name: program.Main, Program: program, Plan: *plan, Datacenters: datacenters})
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), job); err != nil || !wait {
				return err
			}
			result, err := follower.follow(cmd.Context(), s, job, ui.NewModel(program.Main, plan))
			if err != nil {
				return err
			}
			return follower.finish(cmd, result)
		}),
	}
	flags := cmd.Flags()
	gate.add(cmd)
	load.add(flags)
	flags.StringSliceVar(&datacenters, "datacenters", nil, "`names` of where to run, by comma; one that the gate chooses if not given")
	flags.BoolVar(&wait, "wait", false, "follow the job to its end: summary and exit code as of run; ctrl-c cancels it")
	flags.StringVar(&key, "key", "", "submitting the same twice with one key is one job")
	out.add(flags)
	return cmd
}

func newWatchCommand() *cobra.Command {
	var (
		out  outputFlags
		gate gateFlag
	)
	cmd := &cobra.Command{
		Use:   "watch JOB",
		Short: "follow a job to its end; ctrl-c leaves it running",
		Args:  jobArgument,
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			job, err := message.ParseJobID(args[0])
			if err != nil {
				return asUsage(err)
			}
			follower, err := newFollower(&out)
			if err != nil {
				return err
			}
			defer follower.close()
			follower.detach = true
			s, err := dial(&gate, follower.logger)
			if err != nil {
				return err
			}
			defer s.close()
			result, err := follower.follow(cmd.Context(), s, job, ui.NewModel("", &message.Plan{}))
			if err != nil {
				return err
			}
			follower.started = time.Now().Add(-result.Duration)
			return follower.finish(cmd, result)
		}),
	}
	gate.add(cmd)
	out.add(cmd.Flags())
	return cmd
}

// asking makes a command that connects, asks and prints.
func asking(cmd *cobra.Command, f func(ctx context.Context, s *session, w io.Writer, args []string) error) *cobra.Command {
	var (
		gate gateFlag
		log  logFlags
	)
	cmd.RunE = runs(func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		s, err := dial(&gate, log.logger(cmd.ErrOrStderr()))
		if err != nil {
			return err
		}
		defer s.close()
		err = f(ctx, s, cmd.OutOrStdout(), args)
		if err != nil && ctx.Err() != nil {
			return exitWith(exitInterrupted, nil)
		}
		return err
	})
	gate.add(cmd)
	log.add(cmd.Flags(), "error")
	return cmd
}

func newStatusCommand() *cobra.Command {
	var whole, asJSON bool
	cmd := &cobra.Command{
		Use:     "status [JOB]",
		Short:   "where a job, or with --cluster the cluster, stands",
		Example: "  hyperscale status JOB --gate gate-1:9000\n  hyperscale status --cluster --gate gate-1:9000 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if whole {
				return exactly()(cmd, args)
			}
			if len(args) == 0 {
				return usage("`%s` needs JOB, or --cluster", cmd.CommandPath())
			}
			return jobArgument(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&whole, "cluster", false, "the cluster: its nodes and newest jobs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	asking(cmd, func(ctx context.Context, s *session, w io.Writer, args []string) error {
		if whole {
			return clusterStatus(ctx, s, w, asJSON)
		}
		return jobStatus(ctx, s, w, args[0], asJSON)
	})
	return cmd
}

func jobStatus(ctx context.Context, s *session, w io.Writer, id string, asJSON bool) error {
	job, err := message.ParseJobID(id)
	if err != nil {
		return asUsage(err)
	}
	answer, err := s.ask(ctx, &message.JobQuery{Job: job})
	if err != nil {
		return err
	}
	status, ok := answer.(*message.JobStatus)
	if !ok {
		return unexpected(answer)
	}
	if asJSON {
		return printJSON(w, jobView(status))
	}
	model := ui.NewModel(status.Name, &message.Plan{})
	model.Apply(status)
	_, err = fmt.Fprintf(w, "%s  %s\n%s\n", job, ui.Clean(status.Name), ui.Line(model))
	return err
}

func newDatacentersCommand() *cobra.Command {
	var asJSON bool
	cmd := asking(&cobra.Command{
		Use:   "datacenters",
		Short: "list datacenters with their health and free cores",
		Args:  exactly(),
	}, func(ctx context.Context, s *session, w io.Writer, _ []string) error {
		answer, err := s.ask(ctx, &message.DatacenterQuery{})
		if err != nil {
			return err
		}
		list, ok := answer.(*message.DatacenterList)
		if !ok {
			return unexpected(answer)
		}
		if asJSON {
			return printJSON(w, datacenterView(list))
		}
		return printDatacenters(w, list)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newCancelCommand() *cobra.Command {
	return asking(&cobra.Command{
		Use:   "cancel JOB",
		Short: "stop a job, and wait until it has stopped",
		Args:  jobArgument,
	}, func(ctx context.Context, s *session, w io.Writer, args []string) error {
		job, err := message.ParseJobID(args[0])
		if err != nil {
			return asUsage(err)
		}
		answer, err := s.ask(ctx, &message.JobCancel{Job: job})
		if err != nil {
			return err
		}
		ack, ok := answer.(*message.JobCancelAck)
		if !ok {
			return unexpected(answer)
		}
		state, err := ended(ctx, s, job, ack.State)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s %s\n", job, state); err != nil {
			return err
		}
		if state != message.JobCancelled {
			return exitWith(exitFailed, fmt.Errorf("job %v had ended before: it is %s", job, state))
		}
		return nil
	})
}

// ended waits for a job's terminal state.
func ended(ctx context.Context, s *session, job message.JobID, state message.JobState) (message.JobState, error) {
	if state.Terminal() {
		return state, nil
	}
	ctx, cancel := context.WithTimeout(ctx, cancelMax)
	defer cancel()
	watch, err := s.node.Command(ctx, &message.JobWatch{Job: job})
	if err != nil {
		return state, err
	}
	defer watch.Close()
	for m := range watch.Answers() {
		switch m := m.(type) {
		case *message.JobStatus:
			if m.State.Terminal() {
				return m.State, nil
			}
		case *message.JobResult:
			return m.Result.State, nil
		case *message.Refused:
			return state, refusal(m)
		}
	}
	return state, exitWith(exitFailed, fmt.Errorf("job %v has not ended within %v: ask for its state with `hyperscale status`", job, cancelMax))
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
