package main

import (
	"context"
	"fmt"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/rows"
)

// debugRun runs one virtual user once through each workflow, in this process, and prints what
// it sends and receives. It judges nothing, as there is one iteration.
func debugRun(cmd *cobra.Command, program message.Program, folder string, around *exec.Surroundings) error {
	loaded, err := workflow.Load(program)
	if err != nil {
		return command.AsUsage(err)
	}
	mask := maskOf(loaded, program.Secrets)
	if err := loaded.Reveal(program.Secrets); err != nil {
		return command.AsUsage(mask.Error(err))
	}
	files := rows.NewCache(folder)
	for _, f := range loaded.Files() {
		at := slices.IndexFunc(program.Feeds, func(n message.FeedFile) bool { return n.Whole && n.Name == f.Name })
		sheet, err := files.Open(&program.Feeds[at])
		if err != nil {
			return err
		}
		defer files.Close(&program.Feeds[at])
		data, err := rows.MapWhole(int(sheet.File().Fd()), &program.Feeds[at])
		if err != nil {
			return err
		}
		f.Map(data)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	programs := around.Programs(0)
	defer programs.Stop()
	var provided []message.Provided
	for i, plan := range loaded.Plan().Workflows {
		given := slices.DeleteFunc(slices.Clone(provided), func(p message.Provided) bool { return !slices.Contains(p.To, uint32(i)) })
		result, err := debugWorkflow(ctx, cmd, loaded.Workflow(plan.Name), engine.Config{Process: engine.Process{Programs: programs}, Together: engine.Together{Counters: loaded.Plan().Counters, Barriers: loaded.Plan().Barriers}, Seed: program.Seed, Given: given, Mask: mask}, folder)
		switch {
		case err != nil:
			return fmt.Errorf("workflow %s: %w", plan.Name, err)
		case ctx.Err() != nil:
			return command.Exit(command.ExitInterrupted, nil)
		case result.State != message.WorkflowCompleted:
			return fmt.Errorf("workflow %s: %s: %s", plan.Name, result.State, result.Error)
		}
		provided = append(provided, result.Provided...)
	}
	return nil
}

func debugWorkflow(ctx context.Context, cmd *cobra.Command, w *workflow.Workflow, config engine.Config, folder string) (*message.ExecResult, error) {
	out := cmd.OutOrStdout()
	if _, err := fmt.Fprintf(out, "workflow %s: one virtual user, one iteration\n", w.Plan.Name); err != nil {
		return nil, err
	}
	config.Workflow, config.VUs, config.Timeout, config.Debug = w, 1, w.Plan.Timeout, out
	if f := w.Feed; f != nil && f.File != nil {
		sheet, err := rows.NewCache(folder).Open(f.File)
		if err != nil {
			return nil, err
		}
		defer sheet.Close()
		if config.Feed, err = rows.Map(int(sheet.File().Fd()), f.File); err != nil {
			return nil, err
		}
	}
	return engine.Run(ctx, config)
}
