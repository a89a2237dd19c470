package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/core/message"
	"hyperscale/runtime/ui"
)

func newValidateCommand() *cobra.Command {
	var load loadFlags
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "check a workflow file and tell its plan, without running it",
		Args:  exactly("FILE"),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			_, plan, err := readProgram(args[0], &load)
			if err != nil {
				return err
			}
			return describe(cmd.OutOrStdout(), args[0], plan)
		}),
	}
	load.add(cmd.Flags())
	return cmd
}

// describe tells a plan in words.
func describe(w io.Writer, file string, plan *message.Plan) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is good: %s\n", file, counted(len(plan.Workflows), "workflow"))
	for i := range plan.Workflows {
		describeWorkflow(&b, plan, &plan.Workflows[i])
	}
	if len(plan.Params) > 0 {
		fmt.Fprintf(&b, "\nparams (--set name=value)\n")
		for _, p := range plan.Params {
			line := fmt.Sprintf("  %s = %s", p.Name, p.Value)
			if p.Value != p.Default {
				line += fmt.Sprintf(" (default %s)", p.Default)
			}
			if p.Help != "" {
				line += ": " + p.Help
			}
			fmt.Fprintln(&b, ui.Clean(line))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func describeWorkflow(b *strings.Builder, plan *message.Plan, w *message.WorkflowPlan) {
	fmt.Fprintf(b, "\nworkflow %s\n  %s VUs, %s, timeout %v", ui.Clean(w.Name), ui.Count(w.VUs), howLong(w), w.Timeout)
	if w.Think > 0 {
		fmt.Fprintf(b, ", think %v", w.Think)
	}
	if w.Cores > 0 {
		fmt.Fprintf(b, ", on %s", counted(int(w.Cores), "core"))
	}
	fmt.Fprintln(b)
	if len(w.Depends) > 0 {
		var names []string
		for _, d := range w.Depends {
			names = append(names, ui.Clean(plan.Workflows[d].Name))
		}
		fmt.Fprintf(b, "  starts after %s\n", strings.Join(names, ", "))
	}
	for _, s := range w.Steps {
		fmt.Fprintf(b, "  %-8s  %s", kindWord(s.Kind), ui.Clean(s.Name))
		if len(s.After) > 0 {
			var names []string
			for _, a := range s.After {
				names = append(names, ui.Clean(w.Steps[a].Name))
			}
			fmt.Fprintf(b, ", after %s", strings.Join(names, " and "))
		}
		fmt.Fprintln(b)
	}
	for _, t := range w.Thresholds {
		fmt.Fprintf(b, "  wants     %s\n", ui.Clean(t.Expr))
	}
}

func howLong(w *message.WorkflowPlan) string {
	if w.Duration == 0 {
		return "one pass each"
	}
	return "for " + ui.Duration(w.Duration)
}

func kindWord(k message.StepKind) string {
	switch k {
	case message.StepRequest:
		return "request"
	case message.StepFunction:
		return "function"
	case message.StepCheck:
		return "check"
	case message.StepMetric:
		return "metric"
	}
	return "action"
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
