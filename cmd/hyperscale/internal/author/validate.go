package author

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/source"
	workload "hyperscale/core/load"
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/redact"
	"hyperscale/runtime/ui/units"
)

// NewValidateCommand checks a workflow file and prints its plan.
func NewValidateCommand() *cobra.Command {
	var load source.Flags
	var allowed bool
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "check a workflow file and print its plan, without running it",
		Long: `Loads the file, walks its functions, and tells all mistakes in the order of their lines. An
error fails whenever a virtual user reaches it, and ends validate with exit code 2. A warning
looks like a mistake. It connects to no server but those of grpc.reflect, which tell their
descriptors.`,
		Args: command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			program, loaded, findings, err := source.Inspect(args[0], &load)
			if err != nil && len(findings) < 2 {
				return err
			}
			source.Tell(cmd.ErrOrStderr(), findings)
			if wrong := errorsOf(findings); wrong > 0 {
				return command.Usage("%s has %s", args[0], command.Counted(wrong, "error"))
			}
			if err := describe(cmd.OutOrStdout(), args[0], loaded, load.Secrets); err != nil || !allowed {
				return err
			}
			return tryPrograms(cmd.OutOrStdout(), args[0], program)
		}),
	}
	load.Add(cmd.Flags())
	load.AddSecretsAsked(cmd.Flags())
	cmd.Flags().BoolVar(&allowed, "allow-custom", false, AllowCustom+", and play one call of each")
	return cmd
}

// errorsOf counts the findings that are no warnings.
func errorsOf(findings []inspect.Finding) int {
	n := 0
	for _, f := range findings {
		if !f.Warning {
			n++
		}
	}
	return n
}

// describe tells a plan in words.
func describe(w io.Writer, file string, program *workflow.Program, secrets []string) error {
	var b strings.Builder
	plan := program.Plan()
	fmt.Fprintf(&b, "%s is good: %s\n", file, command.Counted(len(plan.Workflows), "workflow"))
	describeOrder(&b, turns(plan))
	for i := range plan.Workflows {
		describeWorkflow(&b, plan, &plan.Workflows[i])
	}
	describeShared(&b, plan, program.Shared())
	if len(plan.Params) > 0 {
		fmt.Fprintf(&b, "\nparams (--set name=value)\n")
		for _, p := range plan.Params {
			if p.Secret {
				p.Value, p.Default = redact.Hidden, redact.Hidden
			}
			line := fmt.Sprintf("  %s = %s", p.Name, p.Value)
			if p.Value != p.Default {
				line += fmt.Sprintf(" (default %s)", p.Default)
			}
			if p.Help != "" {
				line += ": " + p.Help
			}
			fmt.Fprintln(&b, units.Clean(line))
		}
	}
	if len(secrets) > 0 {
		fmt.Fprintf(&b, "\nsecrets (--secret-file FILE, or the environment)\n")
		for _, name := range secrets {
			fmt.Fprintf(&b, "  %s (%s)\n", name, source.SecretVariable(name))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func describeWorkflow(b *strings.Builder, plan *message.Plan, w *message.WorkflowPlan) {
	fmt.Fprintf(b, "\nworkflow %s\n  %s, %s, timeout %v", units.Clean(w.Name), units.Counted(w.VUs, "VU"), howLong(w), w.Timeout)
	if w.Think > 0 {
		fmt.Fprintf(b, ", think %v", w.Think)
	}
	if w.ThinkMax > 0 {
		fmt.Fprintf(b, " to %v", w.ThinkMax)
	}
	if w.Pace > 0 {
		fmt.Fprintf(b, ", pace %v", w.Pace)
	}
	if w.Cores > 0 {
		fmt.Fprintf(b, ", on %s", command.Counted(int(w.Cores), "core"))
	}
	fmt.Fprintln(b)
	describeLoad(b, w)
	starts := func(how string, on []uint32) {
		var names []string
		for _, d := range on {
			names = append(names, units.Clean(plan.Workflows[d].Name))
		}
		if len(names) > 0 {
			fmt.Fprintf(b, "  starts after %s%s\n", strings.Join(names, ", "), how)
		}
	}
	starts("", w.Depends)
	starts(", whatever became of it", w.StartAfter)
	if w.Connections > 0 {
		fmt.Fprintf(b, "  shares    %s to each host%s\n", command.Counted(int(w.Connections), "connection"), onCores(uint64(w.Connections), w.Cores))
	}
	describeSteps(b, w.Steps)
	for _, t := range w.Thresholds {
		fmt.Fprintf(b, "  wants     %s\n", units.Clean(t.Expr))
	}
}

// onCores tells how many connections a host gets.
func onCores(connections uint64, cores uint32) string {
	if cores == 0 {
		return " and core"
	}
	return fmt.Sprintf(" and core, %s on %s", units.Count(connections*uint64(cores)), command.Counted(int(cores), "core"))
}

// describeShared tells how many connections the clients open whose users share them. How many cores there
// are is known where all workflows say so.
func describeShared(b *strings.Builder, plan *message.Plan, all []*request.Target) {
	if len(all) == 0 {
		return
	}
	cores := plan.Workflows[0].Cores
	for i := range plan.Workflows {
		if w := &plan.Workflows[i]; w.Cores == 0 || cores == 0 {
			cores = 0
		} else {
			cores = max(cores, w.Cores)
		}
	}
	fmt.Fprintf(b, "\nshared connections, at most, of each workflow that uses them\n")
	for _, t := range all {
		fmt.Fprintf(b, "  %s: %d a host%s\n", units.Clean(t.URL()), t.Connections, onCores(uint64(t.Connections), cores))
	}
}

// describeSteps draws the order, and names what each step needs; of a graph, what each comes after.
func describeSteps(b *strings.Builder, steps []message.StepPlan) {
	edge := "after"
	if plan.Sequence(steps) != nil {
		edge = "needs"
	}
	describeOrder(b, plan.Order(steps))
	for i := range steps {
		s := &steps[i]
		fmt.Fprintf(b, "  %-8s  %s", kindWord(s.Kind), units.Clean(s.Name))
		if len(s.After) > 0 {
			fmt.Fprintf(b, ", %s %s", edge, named(steps, s.After, " and "))
		}
		if s.Weight > 0 {
			fmt.Fprintf(b, ", weight %d", s.Weight)
		}
		fmt.Fprintln(b)
	}
}

func turns(p *message.Plan) []string { return plan.Turns(p.Workflows) }

func describeOrder(b *strings.Builder, lines []string) {
	word := "order"
	for _, line := range lines {
		fmt.Fprintf(b, "  %-8s  %s\n", word, units.Clean(line))
		word = ""
	}
}

func named(steps []message.StepPlan, list []uint32, between string) string {
	var names []string
	for _, i := range list {
		names = append(names, units.Clean(steps[i].Name))
	}
	return strings.Join(names, between)
}

func howLong(w *message.WorkflowPlan) string {
	switch {
	case w.Iterations > 0 && w.Duration > 0:
		return fmt.Sprintf("%s iterations, at most %s", units.Count(w.Iterations), units.Duration(w.Duration))
	case w.Iterations > 0:
		return units.Count(w.Iterations) + " iterations"
	case w.Duration == 0:
		return "one iteration each"
	}
	return "for " + units.Duration(w.Duration)
}

// describeLoad tells what comes when it is due, and the stages.
func describeLoad(b *strings.Builder, w *message.WorkflowPlan) {
	unit := "s"
	switch w.RatePer {
	case time.Minute:
		unit = "m"
	case time.Hour:
		unit = "h"
	}
	iterations := func(thousandths uint64) string {
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000), "0"), ".") + "/" + unit
	}
	open := workload.Open(w)
	if open {
		arrivals, full := "evenly", "is dropped"
		if w.Poisson {
			arrivals = "by chance"
		}
		if w.Queue {
			full = "waits"
		}
		fmt.Fprintf(b, "  begins    %s, %s; what finds no VU free %s\n", iterations(w.Rate), arrivals, full)
	}
	for _, s := range w.Stages {
		to := command.Counted(int(s.VUs), "VU")
		if open {
			to = iterations(s.Rate)
		}
		if s.Duration == 0 {
			fmt.Fprintf(b, "  stage     at once to %s\n", to)
			continue
		}
		fmt.Fprintf(b, "  stage     in %s to %s\n", units.Duration(s.Duration), to)
	}
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
