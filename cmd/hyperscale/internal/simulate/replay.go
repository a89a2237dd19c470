package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/scenarios"
	"hyperscale/sim"
	"hyperscale/sim/schedule"
)

func newSimReplayCommand() *cobra.Command {
	var watch watchFlags
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "play a recorded run again, with the faults of its file",
		Long: `Play a run again that sim swarm wrote to a file, with exactly the faults of that
file: nothing is drawn anew. When the run is another one than was recorded, that
is said, and the verdict is on the new one.`,
		Example: "  hyperscale sim replay out/swarm/storm-17.sched --picture storm.html",
		Args:    command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			f, err := readSchedule(args[0])
			if err != nil {
				return err
			}
			s, err := findScenario(f.Scenario)
			if err != nil {
				return err
			}
			if err := s.Check(f.Virtual); err != nil {
				return command.Usage("%s: virtual: %w, or correct the file", args[0], err)
			}
			if err := watch.check(false); err != nil {
				return err
			}
			return interruptible(func() error { return replay(cmd.OutOrStdout(), cmd.ErrOrStderr(), s, f, args[0], &watch) })
		}),
	}
	watch.add(cmd.Flags())
	return cmd
}

// replay prints the verdict on stdout, and on stderr how it differs from the recorded one.
func replay(out, notes io.Writer, s scenarios.Scenario, f *schedule.File, name string, watch *watchFlags) error {
	o := optionsOf(f)
	w, err := watch.watch()
	if err != nil {
		return err
	}
	defer w.close()
	w.again = command.Called() + " sim replay " + name
	r, took, err := w.play(s, o)
	if err != nil {
		return err
	}
	// The scenario knows of no files: to it an impossible fault is its own bug.
	if r.Outcome == scenarios.Panicked && strings.Contains(r.Detail, sim.ErrFault.Error()) {
		return command.Usage("%s: correct the file", strings.TrimPrefix(r.Detail, "bug: scenario drew an impossible fault: "))
	}
	if err := w.tell(out); err != nil {
		return err
	}
	if watch.json {
		err = json.NewEncoder(out).Encode(lineOf(&r, took))
	} else {
		err = reportRun(out, &r, took, w.again)
	}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(notes, compareRecorded(f, &r)); err != nil {
		return err
	}
	return simExit(r.Outcome.ExitCode())
}

// compareRecorded says whether this is the run of the file.
func compareRecorded(f *schedule.File, r *scenarios.Report) string {
	if f.Hash == r.Hash {
		return "This is the recorded run: the hashes are equal.\n"
	}
	return fmt.Sprintf("This is not the recorded run: its hash was %016x, now it is %016x. The program has moved on, or the file was\n"+
		"edited. Recorded by hyperscale %s, %s; played by %s.\n"+
		"The verdict was %s, now it is %s.\n", f.Hash, r.Hash, f.Commit, f.Go, builtFrom(), f.Verdict, r.Outcome)
}
