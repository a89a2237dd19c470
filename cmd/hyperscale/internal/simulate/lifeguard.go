package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/units"
	"hyperscale/scenarios/lifeguard"
)

// lifeguardMembersMax bounds --members: a full run grows with its square.
const lifeguardMembersMax = 1024

func newSimLifeguardCommand() *cobra.Command {
	config := lifeguard.Config{Seed: 1, Members: 128, Grid: lifeguard.Full()}
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lifeguard",
		Short: "measure how slow members hurt healthy ones: the experiments of Lifeguard",
		Long: `Play the experiments of "Lifeguard: Local Health Awareness for More Accurate
Failure Detection" (arXiv 1707.00788). Members are blocked once, or again and
again. The groups run plain SWIM, each part of Lifeguard, all of it, and the
defaults of this system. The command counts false positives (FP), those at healthy
members (FP-), messages and bytes, and times the detection of true failures.

The same seed gives the same figures. A full run takes some minutes of one core.
Exit codes: 0 all bars are met, 1 one is not, 2 bad usage.`,
		Example: "  hyperscale sim lifeguard\n  hyperscale sim lifeguard --seed 7 --out docs",
		Args:    command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			if config.Members < lifeguard.MembersMin || config.Members > lifeguardMembersMax {
				return command.Usage("--members %d must be from %d to %d: the paper has 128", config.Members, lifeguard.MembersMin, lifeguardMembersMax)
			}
			return interruptible(func() error { return runLifeguard(cmd, config, dir, asJSON) })
		}),
	}
	flags := cmd.Flags()
	flags.Uint64Var(&config.Seed, "seed", config.Seed, "what everything is drawn from")
	flags.IntVar(&config.Members, "members", config.Members, "members of the group")
	flags.StringVar(&dir, "out", "", "write lifeguard.md, lifeguard.svg and lifeguard.json into this directory, too")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runLifeguard(cmd *cobra.Command, config lifeguard.Config, dir string, asJSON bool) error {
	began := time.Now()
	config.Progress = lifeguardProgress(cmd.ErrOrStderr(), began)
	s := lifeguard.Play(config)
	if dir != "" {
		if err := writeLifeguard(dir, &s); err != nil {
			return err
		}
	}
	out := cmd.OutOrStdout()
	var err error
	if asJSON {
		err = json.NewEncoder(out).Encode(s)
	} else {
		_, err = io.WriteString(out, lifeguardText(&s, time.Since(began)))
	}
	if err != nil {
		return err
	}
	for _, b := range s.Bars {
		if !b.Met {
			return simExit(command.ExitFailed)
		}
	}
	return nil
}

// lifeguardProgress prints the progress every few seconds.
func lifeguardProgress(w io.Writer, began time.Time) func(done, all int) {
	told := began
	return func(done, all int) {
		if time.Since(told) < 5*time.Second {
			return
		}
		told = time.Now()
		left := time.Duration(float64(told.Sub(began)) / float64(done) * float64(all-done))
		fmt.Fprintf(w, "%d of %d runs, about %s left\n", done, all, units.Duration(left))
	}
}

func lifeguardText(s *lifeguard.Summary, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d members, seed %d: %d runs in %s\n\n%s\n", s.Members, s.Seed, s.Runs, units.Duration(took), aligned(s.Table()))
	for _, bar := range s.Bars {
		verdict := "met"
		if !bar.Met {
			verdict = "NOT MET"
		}
		fmt.Fprintf(&b, "%-8s%s: %s\n", verdict, bar.Name, bar.Got)
	}
	return b.String()
}

// aligned sets a table of Markdown for a terminal: first column left, others right.
func aligned(table string) string {
	var rows [][]string
	var widths []int
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len(cells[i]))
		}
		rows = append(rows, cells)
	}
	var b strings.Builder
	for _, cells := range rows {
		for i, c := range cells {
			if i == 0 {
				fmt.Fprintf(&b, "%-*s", widths[i], c)
			} else {
				fmt.Fprintf(&b, "  %*s", widths[i], c)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// writeLifeguard writes what docs/ shows.
func writeLifeguard(dir string, s *lifeguard.Summary) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	var faults []error
	for name, content := range map[string]string{
		"lifeguard.md": lifeguardPage(s), "lifeguard.svg": s.Picture(), "lifeguard.json": string(text) + "\n",
	} {
		faults = append(faults, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	return errors.Join(faults...)
}

func lifeguardPage(s *lifeguard.Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Slow members, healthy members

Made by `+"`hyperscale sim lifeguard --seed %d --members %d --out docs`"+`: %d runs.

The experiments are those of Lifeguard (arXiv 1707.00788), in the simulator. Some members are blocked: what they send
and what they receive waits, while their timers run on. In a threshold experiment they are blocked once, in an interval
experiment again and again for two minutes. A false positive (FP) is a verdict against a member that was never blocked,
FP- is one at a member that was never blocked either. True failures are blocks of 33 s: first detection is the first healthy
member's verdict, full dissemination the last one's. SWIM to Lifeguard have the paper's formulas (LHM + 1, alpha 5,
beta 6, no cap); "ours" is what this system runs with.

![False positives and times of detection](lifeguard.svg)

%s
| setting | what is on |
|---|---|
`, s.Seed, s.Members, s.Runs, s.Table())
	for _, c := range s.Columns {
		fmt.Fprintf(&b, "| %s | %s |\n", c.Setting, c.What)
	}
	b.WriteString("\n| bar | figure | |\n|---|---|---|\n")
	for _, bar := range s.Bars {
		verdict := "met"
		if !bar.Met {
			verdict = "**not met**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", bar.Name, bar.Got, verdict)
	}
	b.WriteString("\nEvery cell of the grid is in lifeguard.json, which the same command writes.\n")
	return b.String()
}
