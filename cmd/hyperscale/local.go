package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/local"
	"hyperscale/runtime/trace"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// The names of a cluster that lives in one process.
const (
	localCluster     = "local"
	localEnvironment = "run"
)

// jobSpec is a job to run here.
type jobSpec struct {
	name    string
	program message.Program
	plan    *message.Plan
	cores   int    // 0: as many as fit
	memory  uint64 // of one executor; 0: the default
	trace   *trace.File
	feeds   string // folder of rows that do not travel with the program
	around  exec.Surroundings

	adjust func(context.Context, *session.Session, *jobSpec) error // once the cluster is ready; nil for none
}

// runLocally starts a cluster, runs one job on it and takes it down.
func runLocally(ctx context.Context, f *follow.Follower, spec jobSpec) (*message.Result, error) {
	cluster, err := local.Start(local.Config{Cores: spec.cores, ExecutorMemory: spec.memory, Feeds: spec.feeds, Surroundings: spec.around, Trace: spec.trace, Cluster: localCluster, Environment: localEnvironment, Logger: command.Lower(f.Logger)})
	if err != nil {
		return nil, fmt.Errorf("start a local cluster: %w", err)
	}
	result, err := runOn(ctx, f, cluster, spec)
	var exit *command.ExitError
	if errors.As(err, &exit) && exit.Code == command.ExitInterrupted {
		cluster.Kill()
		return nil, err
	}
	stop, cancel := context.WithTimeout(ctx, session.StopMax)
	defer cancel()
	return result, errors.Join(err, cluster.Stop(stop))
}

func runOn(ctx context.Context, f *follow.Follower, cluster *local.Cluster, spec jobSpec) (*message.Result, error) {
	s, err := session.Dial(&session.Flags{Addresses: []string{string(cluster.Gate())}, Cluster: localCluster, Environment: localEnvironment}, f.Logger)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := tooWide(spec.plan, cluster.Cores()); err != nil {
		return nil, err
	}
	if err := awaitCores(ctx, f, s, cluster.Cores()); err != nil {
		return nil, err
	}
	if spec.adjust != nil {
		if err := spec.adjust(ctx, s, &spec); err != nil {
			return nil, err
		}
	}
	f.Started, f.Lost = time.Now(), cluster.Lost()
	job, err := f.Submit(ctx, s, &message.JobSubmit{Key: rand.Text(), Name: spec.name, Program: spec.program, Plan: *spec.plan})
	if err != nil {
		return nil, err
	}
	return f.Follow(ctx, s, job, ui.NewModel(spec.name, spec.plan))
}

// Bounds of a local cluster's start.
const (
	readyMax  = 15 * time.Second
	readyStep = 20 * time.Millisecond
)

// awaitCores waits until the gate has heard of the worker's cores.
func awaitCores(ctx context.Context, f *follow.Follower, s *session.Session, cores int) error {
	limit := time.After(readyMax)
	for {
		answer, err := s.Ask(ctx, &message.DatacenterQuery{})
		if err != nil {
			return err
		}
		if list, ok := answer.(*message.DatacenterList); ok && len(list.Datacenters) > 0 && int(list.Datacenters[0].CoresFree) >= cores {
			return nil
		}
		select {
		case <-time.After(readyStep):
		case <-f.Signals.Asked:
			return command.Exit(command.ExitInterrupted, errors.New("interrupted before the load began"))
		case <-limit:
			return fmt.Errorf("the local cluster has no core ready after %v: see its log with --log-level info", readyMax)
		}
	}
}

// tooWide rejects a workflow that names more cores than the cluster will ever have.
func tooWide(p *message.Plan, cores int) error {
	for i := range p.Workflows {
		if w := &p.Workflows[i]; int(w.Cores) > cores {
			return command.Usage("workflow %q: cores = %d, and this run has %s: take cores out of the file, or give the run more with --cores", w.Name, w.Cores, units.Counted(uint64(cores), "core"))
		}
	}
	return nil
}
