package simulate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/checker"
	"hyperscale/checker/history"
	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/units"
	"hyperscale/scenarios"
	"hyperscale/sim"
	"hyperscale/sim/schedule"
)

// historyMax bounds the records of a history that is explained.
const historyMax = 20_000_000

func newSimExplainCommand() *cobra.Command {
	var picture string
	var beyond bool
	cmd := &cobra.Command{
		Use:   "explain FILE",
		Short: "show which operations of a history cannot be ordered",
		Long: `Judge a history once more and show which operations on a job or a lease cannot be
put into any order that explains their answers. FILE is a schedule, which is played
for its history, or a history of JSON lines, as real processes write them.

Exit codes: 0 all operations can be ordered, 1 some cannot, 2 bad usage.`,
		Example: "  hyperscale sim explain out/swarm/storm-17.sched --picture operations.html\n" +
			"  hyperscale sim explain out/chaos/history.jsonl",
		Args: command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			return interruptible(func() error { return explain(cmd.OutOrStdout(), args[0], picture, beyond) })
		}),
	}
	cmd.Flags().StringVar(&picture, "picture", "", "draw the operations into a `file`: one HTML page, as porcupine draws it")
	cmd.Flags().BoolVar(&beyond, "beyond", false, "clocks drifted beyond the bound in this history; a schedule says so itself")
	return cmd
}

// explain prints the text and writes the picture.
func explain(out io.Writer, name, picture string, beyond bool) error {
	history, assume, err := historyOf(name, beyond)
	if err != nil {
		return err
	}
	text, page := checker.Explain(history, assume)
	judge := checker.New()
	judge.Assume(assume)
	for _, r := range history {
		judge.Observe(r)
	}
	judge.Settle()
	broken := len(judge.Linear()) > 0
	if _, err := fmt.Fprintf(out, "%s of %s\n", command.Counted(len(history), "event"), name); err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		if _, err := fmt.Fprintln(out, units.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	switch {
	case picture != "" && page == nil && broken:
		_, err = fmt.Fprintln(out, "No picture: the window is too large to draw.")
	case picture != "" && page != nil:
		if err = os.WriteFile(picture, page, 0o644); err != nil {
			return command.Usage("--picture: %w: choose a file in a folder that exists and is writable", err)
		}
		_, err = fmt.Fprintf(out, "Drawn in %s.\n", picture)
	}
	if err == nil && broken {
		return simExit(scenarios.Violation.ExitCode())
	}
	return err
}

// historyOf reads a history, or plays a schedule for its own.
func historyOf(name string, beyond bool) (records []checker.Record, assume checker.Assumptions, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, assume, command.Usage("%w: give a schedule or a history", err)
	}
	defer file.Close()
	assume = checker.Assumptions{DriftBeyondBound: beyond, DriftPPM: sim.DriftBound}
	in := bufio.NewReaderSize(file, 1<<16)
	start, _ := in.Peek(256) // a shorter file has less
	if bytes.Contains(start, []byte(schedule.Schema)) {
		f, err := schedule.Read(in)
		if err != nil {
			return nil, assume, command.Usage("%s: %w", name, err)
		}
		s, err := findScenario(f.Scenario)
		if err != nil {
			return nil, assume, err
		}
		o := optionsOf(f)
		o.History = func(r checker.Record) { records = append(records, r) }
		s.Run(o)
		assume.DriftBeyondBound = s.Beyond
		return records, assume, nil
	}
	err = history.Read(in, func(r checker.Record) {
		if len(records) < historyMax {
			records = append(records, r)
		}
	})
	if err == nil && len(records) == historyMax {
		err = fmt.Errorf("more than %d events: cut the file", historyMax)
	}
	if err == nil && len(records) == 0 {
		err = errors.New("no event in it: give a schedule or a history")
	}
	if err != nil {
		return nil, assume, command.Usage("%s: %w", name, err)
	}
	return records, assume, nil
}
