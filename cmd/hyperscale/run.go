package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/core/message"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/local"
	"hyperscale/runtime/ui"
)

// The names of a cluster that lives in one process.
const (
	localCluster     = "local"
	localEnvironment = "run"
)

// runFlags are all flags of run.
type runFlags struct {
	load  loadFlags
	url   urlFlags
	out   outputFlags
	cores uint64
	exec  exec.Config // memory_max alone
	debug bool

	metrics string
}

func newRunCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|URL",
		Short: "run a load test on this machine",
		Long: `Run a load test on this machine: a whole cluster (gate, manager, worker, one
executor a core) is started for it on loopback, and nothing of it is left behind.`,
		Example: "  hyperscale run test.star --vus 200 --duration 1m --set target=http://localhost:3000\n" +
			"  hyperscale run http://localhost:3000/ --vus 64 --duration 10s --save test.star\n" +
			"  hyperscale run test.star --ui ci --out json=result.json",
		Args: exactly("FILE or URL"),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			program, plan, err := f.program(cmd, args[0])
			if err != nil {
				return err
			}
			if f.debug {
				for _, name := range []string{"vus", "duration", "rate", "cores", "ui", "out", "metrics"} {
					if cmd.Flags().Changed(name) {
						return usage("--%s says nothing to --debug, which runs one virtual user once: leave one of them out", name)
					}
				}
				return debugRun(cmd, program, filepath.Dir(args[0]))
			}
			f.out.report(plan)
			follower, err := newFollower(&f.out)
			if err != nil {
				return err
			}
			defer follower.close()
			if err := follower.serveMetrics(f.metrics); err != nil {
				return err
			}
			follower.file, follower.run = args[0], origin(&program)
			result, err := runLocally(cmd.Context(), follower, jobSpec{program: program, plan: plan, cores: int(f.cores), memory: f.exec.MemoryMax, feeds: filepath.Dir(args[0])})
			if err != nil {
				return err
			}
			return follower.finish(cmd, result)
		}),
	}
	flags := cmd.Flags()
	f.load.add(flags)
	addCount(flags, &f.cores, "cores", 0, 1, 1024, "executors, one a core; all physical cores but one if not given")
	f.exec = exec.Default()
	flags.Var(settingFlag{f.exec.Settings()[0]}, "executor-memory", "resident memory of one executor, which is ended above it")
	f.out.add(flags)
	flags.StringVar(&f.metrics, "metrics", "", "serve the run's metrics to Prometheus while it lasts, at `ADDR`/metrics")
	flags.BoolVar(&f.debug, "debug", false, "one virtual user, one iteration, every request and response shown")
	f.url.add(flags)
	return cmd
}

func (f *runFlags) program(cmd *cobra.Command, arg string) (message.Program, *message.Plan, error) {
	if isURL(arg) {
		return f.url.program(arg, &f.load)
	}
	for _, name := range urlFlagNames {
		if cmd.Flags().Changed(name) {
			return message.Program{}, nil, usage("--%s goes with a URL, and %s is a file: change the file instead", name, arg)
		}
	}
	return readProgram(arg, &f.load)
}

// jobSpec is a job to run here.
type jobSpec struct {
	program message.Program
	plan    *message.Plan
	cores   int    // 0: as many as fit
	memory  uint64 // of one executor; 0: the default
	feeds   string // folder of rows that do not travel with the program
}

// runLocally starts a cluster, runs one job on it and takes it down.
func runLocally(ctx context.Context, f *follower, spec jobSpec) (*message.Result, error) {
	cluster, err := local.Start(local.Config{Cores: spec.cores, ExecutorMemory: spec.memory, Feeds: spec.feeds, Cluster: localCluster, Environment: localEnvironment, Logger: f.logger})
	if err != nil {
		return nil, fmt.Errorf("start a local cluster: %w", err)
	}
	result, err := runOn(ctx, f, cluster, spec)
	var exit *exitError
	if errors.As(err, &exit) && exit.code == exitInterrupted {
		cluster.Kill()
		return nil, err
	}
	stop, cancel := context.WithTimeout(ctx, stopMax)
	defer cancel()
	return result, errors.Join(err, cluster.Stop(stop))
}

func runOn(ctx context.Context, f *follower, cluster *local.Cluster, spec jobSpec) (*message.Result, error) {
	s, err := dial(&gateFlag{addresses: []string{string(cluster.Gate())}, cluster: localCluster, environment: localEnvironment}, f.logger)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := awaitCores(ctx, f, s, cluster.Cores()); err != nil {
		return nil, err
	}
	f.started, f.lost = time.Now(), cluster.Lost()
	job, err := submit(ctx, s, &message.JobSubmit{Key: rand.Text(), Name: spec.program.Main, Program: spec.program, Plan: *spec.plan})
	if err != nil {
		return nil, err
	}
	return f.follow(ctx, s, job, ui.NewModel(spec.program.Main, spec.plan))
}

// Bounds of a local cluster's start.
const (
	readyMax  = 15 * time.Second
	readyStep = 20 * time.Millisecond
)

// awaitCores waits until the gate has heard of the worker's cores.
func awaitCores(ctx context.Context, f *follower, s *session, cores int) error {
	limit := time.After(readyMax)
	for {
		answer, err := s.ask(ctx, &message.DatacenterQuery{})
		if err != nil {
			return err
		}
		if list, ok := answer.(*message.DatacenterList); ok && len(list.Datacenters) > 0 && int(list.Datacenters[0].CoresFree) >= cores {
			return nil
		}
		select {
		case <-time.After(readyStep):
		case <-f.signals.asked:
			return exitWith(exitInterrupted, errors.New("interrupted before the load began"))
		case <-limit:
			return fmt.Errorf("the local cluster has no core ready after %v: see its log with --log-level info", readyMax)
		}
	}
}

// submit hands a job in and returns its id.
func submit(ctx context.Context, s *session, m *message.JobSubmit) (message.JobID, error) {
	answer, err := s.ask(ctx, m)
	if err != nil {
		return message.JobID{}, fmt.Errorf("submit: %w", err)
	}
	ack, ok := answer.(*message.JobAck)
	if !ok {
		return message.JobID{}, unexpected(answer)
	}
	return ack.Job, nil
}
