package simulate

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/progress"
	"hyperscale/runtime/ui/units"
	"hyperscale/scenarios"
	"hyperscale/sim"
	"hyperscale/sim/schedule"
	"hyperscale/sim/story"
)

// shrinkBudget bounds making one failure smaller, where no flag gives
// another bound.
const shrinkBudget = 2 * time.Minute

func newSimShrinkCommand() *cobra.Command {
	var budget time.Duration
	var out string
	cmd := &cobra.Command{
		Use:   "shrink FILE",
		Short: "make a recorded failure small",
		Long: `Play a failure that sim swarm wrote again and again, each time with less: cut where
it broke, with fewer faults, fewer nodes, shorter and rounder times. The smallest
run that still fails in the same way becomes a schedule, for sim replay.

Exit codes: 0 it was made as small as can be, or as the budget allows; 1 it does
not fail any more; 2 bad usage.`,
		Example: "  hyperscale sim shrink out/swarm/storm-17.sched\n" +
			"  hyperscale sim replay out/swarm/storm-17.min.sched --picture storm.html",
		Args: command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			f, err := readSchedule(args[0])
			if err != nil {
				return err
			}
			s, err := findScenario(f.Scenario)
			if err != nil {
				return err
			}
			if out == "" {
				out = smallName(args[0])
			}
			return interruptible(func() error { return shrinkFile(cmd.OutOrStdout(), cmd.ErrOrStderr(), s, f, out, budget) })
		}),
	}
	command.AddSpan(cmd.Flags(), &budget, "budget", shrinkBudget, time.Second, "stop after this much real time, with what was found until then")
	cmd.Flags().StringVar(&out, "out", "", "write the result to a `file`; default: FILE with .min.sched")
	return cmd
}

// shrinkFile prints its progress on stderr and the result on stdout.
func shrinkFile(out, notes io.Writer, s scenarios.Scenario, f *schedule.File, name string, budget time.Duration) error {
	start := time.Now()
	o := optionsOf(f)
	r := s.Run(o)
	if r.Outcome == scenarios.OK {
		return command.Exit(1, fmt.Errorf("this run ends well now: the program has moved on, or the file was edited; nothing to make small"))
	}
	line := progress.New(notes, progress.Terminal(notes), start)
	small, ok := s.Shrink(o, r, func() bool { return time.Since(start) >= budget }, func(faults, plays int) {
		now := time.Now()
		line.Tell(now, func() string {
			return fmt.Sprintf("%s of %d left after %s, %s left at most", command.Counted(faults, "fault"), len(r.Faults), command.Counted(plays, "play"), units.Duration(max(0, budget-now.Sub(start)).Round(time.Second)))
		})
	})
	line.Clear()
	if !ok {
		return command.Exit(4, fmt.Errorf("two runs of one schedule differ: it fails, and played again it does not"))
	}
	if err := writeSchedule(name, small.Options, &small.Report, small.Report.Outcome, small.Report.Detail); err != nil {
		return command.Usage("--out: %w: choose a file that can be written", err)
	}
	_, err := io.WriteString(out, tellShrunk(len(r.Faults), &small, time.Since(start), name))
	return err
}

// tellShrunk describes the remaining faults for a person.
func tellShrunk(before int, small *scenarios.Shrunk, took time.Duration, name string) string {
	var b strings.Builder
	r := &small.Report
	fmt.Fprintf(&b, "%s, seed %d: %s of %d left, in %s by %s\n\n", r.Scenario, r.Seed, command.Counted(len(r.Faults), "fault"), before, units.Duration(took), command.Counted(small.Plays, "play"))
	for i := range r.Faults {
		fmt.Fprintf(&b, "  %s\n", faultLine(&r.Faults[i]))
	}
	fmt.Fprintf(&b, "%s\n\nagain: %s sim replay %s\n look: add --story first, --picture run.html, or --trace run.jsonl\n", wrap(units.Clean(r.Detail), 2, 100), command.Called(), name)
	return b.String()
}

// faultLine describes one fault.
func faultLine(f *sim.Fault) string {
	who := "everybody"
	if len(f.Nodes) > 0 {
		who = strings.Join(f.Nodes, ", ")
	}
	text := fmt.Sprintf("%v %s: %s", f.At, who, story.Fault(f))
	if f.For > 0 {
		text += fmt.Sprintf(" for %v", f.For)
	}
	return text
}
