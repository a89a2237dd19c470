package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/feed"
	"hyperscale/runtime/engine"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/redact"
	"hyperscale/runtime/rows"
	"hyperscale/runtime/trace"
)

// newExecutorCommand is the command that workers start once a core; it is not for users.
func newExecutorCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "executor",
		Short:  "one core of a worker, started by it",
		Hidden: true,
		Args:   command.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			if code := exec.Main(runShard); code != command.ExitGood {
				return command.Exit(code, nil)
			}
			return nil
		},
	}
}

// runShard loads the program again, since only bytes cross the wire, and runs the
// executor's share of one workflow.
func runShard(ctx context.Context, work *exec.Work) *message.ExecResult {
	start := work.Start
	failed := func(err error) *message.ExecResult {
		return &message.ExecResult{State: message.WorkflowFailed, Error: err.Error()}
	}
	work.Ask("it loads the program and resolves names")
	program, err := workflow.Load(start.Program)
	if err != nil {
		return failed(err)
	}
	if got := program.Digest(); got != start.PlanDigest {
		return failed(fmt.Errorf("the program makes another plan here (%x) than where it was submitted (%x): use the same version of hyperscale at both ends", got, start.PlanDigest))
	}
	mask := maskOf(program, start.Program.Secrets)
	if err := program.Reveal(start.Program.Secrets); err != nil {
		return failed(mask.Error(err))
	}
	w := program.Workflow(start.Workflow)
	if w == nil {
		return failed(fmt.Errorf("the program has no workflow %q: use the same version of hyperscale at both ends", start.Workflow))
	}
	config := engine.Config{
		Process:  engine.Process{Alone: true, Programs: work.Programs},
		Workflow: w, VUs: start.VUs, FirstVU: start.FirstVU, Seed: start.Program.Seed,
		Duration: start.Duration, Timeout: start.Timeout, Progress: work.Progress, Turned: work.Turned, Orders: engine.Orders{Over: work.Lease.Over, Throttled: work.Throttled},
		Given: start.Given, Rows: start.Rows, Lessor: work.Rows, Mask: mask,
		Together: engine.Together{Counters: program.Plan().Counters, Barriers: program.Plan().Barriers, Gatherer: work.Rows},
	}
	if origin, joins := work.Origin(); joins {
		j := start.Join
		config.Resume = &engine.Resume{Since: origin, Begun: j.Begun, Anew: j.Anew, FirstVU: j.FirstVU, VUs: j.VUs}
	}
	if config.Feed, err = feedOf(w, work); err != nil {
		return failed(err)
	}
	if err := mapFiles(program, work); err != nil {
		return failed(err)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt(start.VUs))
	}
	if start.Trace > 0 {
		config.Trace = trace.NewRecorder(trace.Plan{Every: start.Trace, Seed: start.Program.Seed, Workflow: w.Plan.Name}, mask, work.Trace)
		defer config.Trace.Close()
	}
	result, err := engine.Run(ctx, config)
	if err != nil {
		return failed(err)
	}
	return result
}

// maskOf hides secrets, and the values of params that the file marks.
func maskOf(program *workflow.Program, secrets []message.Secret) *redact.Mask {
	var values []string
	for _, s := range secrets {
		values = append(values, string(s.Value))
	}
	for _, p := range program.Plan().Params {
		if p.Secret {
			values = append(values, p.Value)
		}
	}
	return redact.New(values)
}

// feedOf maps the rows of a feed that does not travel with its program.
func feedOf(w *workflow.Workflow, work *exec.Work) (*feed.Table, error) {
	if w.Feed == nil || w.Feed.File == nil {
		return nil, nil
	}
	at := slices.IndexFunc(work.Start.Program.Feeds, func(f message.FeedFile) bool { return !f.Whole && f.Name == w.Feed.File.Name })
	return rows.Map(work.Sheets[at], w.Feed.File)
}

// mapFiles maps the files that requests send and that do not travel with their program.
func mapFiles(program *workflow.Program, work *exec.Work) error {
	for _, f := range program.Files() {
		at := slices.IndexFunc(work.Start.Program.Feeds, func(n message.FeedFile) bool { return n.Whole && n.Name == f.Name })
		data, err := rows.MapWhole(work.Sheets[at], &work.Start.Program.Feeds[at])
		if err != nil {
			return err
		}
		f.Map(data)
	}
	return nil
}

// collectAt is by how many percent the heap may grow between two collections. Almost all
// garbage is what functions leave behind. A few virtual users keep so little that they can
// afford much garbage, which gives a quarter more requests a second. Ten thousand keep so much
// that twice as much is too much.
func collectAt(vus uint64) int {
	switch {
	case vus <= 500:
		return 400
	case vus <= 5000:
		return 100
	}
	return 50
}
