package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/scenarios/metastable"
)

func newSimVulnerableCommand() *cobra.Command {
	var loop, trigger, dir string
	var border bool
	cmd := &cobra.Command{
		Use:   "vulnerable",
		Short: "show which overloads stay after their trigger has gone, with guards and without",
		Long: `Play clusters at 90 % load. A trigger makes a node slow, down or cut off, or brings
more requests, for a while. A loop may keep the overload: retries, dead work,
dispatches, reconnects. The table says how long each cell takes to recover, and how
much was sent for what was asked in its worst 10 s.

--border bisects, for each depth, the longest trigger of at most 20 s that a cell
survives. The four published runs of a retry storm (OSDI 2022) come first.

Exit codes: 0 all cells with guards recover, 1 one does not, 2 bad usage.`,
		Example: "  hyperscale sim vulnerable --loop retry --trigger capacity\n  hyperscale sim vulnerable --out docs",
		Args:    command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			var loops []string
			for _, l := range metastable.Loops() {
				loops = append(loops, l.Name)
			}
			if err := oneOf("loop", loop, loops); err != nil {
				return err
			}
			if err := oneOf("trigger", trigger, metastable.Triggers()); err != nil {
				return err
			}
			return interruptible(func() error { return runVulnerable(cmd, loop, trigger, dir, border) })
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&loop, "loop", "", "play one loop alone, by its `name`")
	flags.StringVar(&trigger, "trigger", "", "play one trigger alone, by its `name`")
	flags.BoolVar(&border, "border", false, "bisect the longest trigger that each depth survives")
	flags.StringVar(&dir, "out", "", "write vulnerable.md and vulnerable.svg into this `folder`, too")
	return cmd
}

// oneOf rejects a name that is not in a list; an empty one means all.
func oneOf(flag, name string, all []string) error {
	for _, known := range all {
		if name == "" || name == known {
			return nil
		}
	}
	return command.Usage("--%s %q is not known: choose one of %s", flag, name, strings.Join(all, ", "))
}

func runVulnerable(cmd *cobra.Command, loop, trigger, dir string, border bool) error {
	told := time.Now()
	rows := metastable.Grid(loop, trigger, func(done int) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			fmt.Fprintf(cmd.ErrOrStderr(), "%d cells\n", done)
		}
	})
	text := publishedText() + "\n" + aligned(metastable.Table(rows)) + "\n" + countText(rows)
	if border {
		text += "\n" + aligned(borderTable(rows))
	}
	if _, err := fmt.Fprint(cmd.OutOrStdout(), text); err != nil {
		return err
	}
	if dir != "" {
		if err := writeVulnerable(dir, rows); err != nil {
			return err
		}
	}
	if good, all := metastable.Count(rows, true); good < all {
		return simExit(command.ExitFailed)
	}
	return nil
}

// publishedText lists the published runs.
func publishedText() string {
	var b strings.Builder
	for _, r := range metastable.PublishedRuns() {
		bare := r.Recovers()
		r.Guards = true
		fmt.Fprintf(&b, "OSDI 2022, %s: %s; with guards: %s\n", r.Name, recovers(bare), recovers(r.Recovers()))
	}
	return b.String()
}

func recovers(yes bool) string {
	if yes {
		return "recovers"
	}
	return "never recovers"
}

func countText(rows []metastable.Row) string {
	with, all := metastable.Count(rows, true)
	without, _ := metastable.Count(rows, false)
	return fmt.Sprintf("Of %d cells %d recover within their bounds without guards, %d with guards.\n", all, without, with)
}

// borderTable bisects the border of each depth.
func borderTable(rows []metastable.Row) string {
	const most = 20 * time.Second
	var b strings.Builder
	b.WriteString("| loop, trigger | depth | survives without guards | with guards |\n|---|---|---:|---:|\n")
	for _, r := range rows {
		for i := range r.Depths {
			bare, guarded := r.Without[i][0].Cell, r.With[i][0].Cell
			fmt.Fprintf(&b, "| %s, %s | %d | %v | %v |\n", r.Loop, r.Trigger, r.Depths[i], metastable.Border(bare, most), metastable.Border(guarded, most))
		}
	}
	return b.String()
}

// writeVulnerable writes what docs/ shows.
func writeVulnerable(dir string, rows []metastable.Row) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vulnerable.svg"), []byte(metastable.Picture(rows)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "vulnerable.md"), []byte(vulnerablePage(rows)), 0o644)
}

func vulnerablePage(rows []metastable.Row) string {
	var b strings.Builder
	b.WriteString("# Overloads that stay\n\nMade by `hyperscale sim vulnerable --out docs`.\n\n" +
		"A failure is metastable if it stays after its trigger has gone, because a loop feeds it. The machines are those of production, at\n" +
		"90 % load in the simulator. A cell recovers if 99 % of before is answered in time again, within 10 s or two of the loop's longest\n" +
		"timeout. Each cell says how long that took, and how much was sent for what was asked in the worst 10 s. A request that waits for its\n" +
		"server, and goes out later for the first time, counts as asked then.\n\n" +
		"![Which cells recover](vulnerable.svg)\n\n| loop | what happens | guards | bound |\n|---|---|---|---|\n")
	for _, l := range metastable.Loops() {
		fmt.Fprintf(&b, "| %s | %s | %s | %v |\n", l.Name, l.What, l.Guards, l.Bound())
	}
	b.WriteString("\n" + countText(rows) + "\n" + metastable.Table(rows) + "\nWhat has no cells:\n\n| loop | why |\n|---|---|\n")
	for _, l := range metastable.LeftOut() {
		fmt.Fprintf(&b, "| %s | %s |\n", l.Name, l.Why)
	}
	b.WriteString("\n**Re-dispatch.** A stream loses no message while it stands, so a gate repeats a dispatch once the stream has broken, or after four times\n" +
		"`gate.answer_timeout`. Without guards that is 0.3 s here. A refusal lowers the rate of dispatches towards what managers take, and a\n" +
		"second's worth of dispatches at most is without an answer. A manager that says nothing for half a second after a dispatch gets no more\n" +
		"until it speaks: else those of 5 s go down with the stream of a cut of 10 s, are owed once more, and x1.42 are sent. A datacenter that\n" +
		"returns gets four of the jobs that waited for it, and one more with each quick answer: else a restart of 10 s has x1.10. The deadline\n" +
		"matters in five cells alone: a spike of four times as much for 10 s, of eight times for 3 s or 10 s, and a cut of 10 s. Without it\n" +
		"the gate works off what it has accepted, and later jobs wait for that.\n\n" +
		"**Reconnect and renewal.** A heartbeat that registers a worker is not repeated within its second while it has no answer. Otherwise a\n" +
		"manager 16 times slower for 10 s gets x1.12.\n\n" +
		"**Retry and dead work.** A client repeats at most one request for ten that it asks, or four in 10 s. Without that budget the same cells\n" +
		"send up to x4.7, and one needs 32 s. What it costs: of 900 requests asked while the gate is cut off for 10 s, clients that wait 15 s get\n" +
		"47 answers with the budget and 490 without; during a restart of 10 s 347 and 461. A client that asks seldom is not held: a thousand of\n" +
		"them have four repeats each, and the times that a gate gives are what spreads them.\n\nThe published experiment is a queueing model here, with one free figure, a timeout of 5.3 s:\n\n| run of OSDI 2022 | without guards | with guards |\n|---|---|---|\n")
	for _, r := range metastable.PublishedRuns() {
		bare := r.Recovers()
		r.Guards = true
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Name, recovers(bare), recovers(r.Recovers()))
	}
	return b.String()
}
