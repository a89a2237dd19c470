package recall

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/compare"
	"hyperscale/runtime/history"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// The baselines that --baseline names.
const (
	lastGood  = "last-good"
	tagged    = "tag:"
	median    = "median:"
	medianMax = 100 // runs
)

func newCompare() *cobra.Command {
	var f flags
	baseline, line := lastGood, false
	cmd := &cobra.Command{
		Use:   "compare [RUN]",
		Short: "compare a run with an earlier one; exit code 99 on a regression",
		Long: `Compare a run, the newest one if you name none, with an earlier run of the same name: the last
good one of the same load, the one with a tag, or the median one by p99 of the last N good
ones of the same load. It compares exact histograms, as compare does with result files.

A run whose generator was saturated, or that did not complete, is compared and not judged.

Exit codes: 0 no regression, or not judged; 99 a regression; 2 bad usage, or no such run.`,
		Example: "  hyperscale history compare\n  hyperscale history compare 17 --baseline tag:v1 --of checkout.star\n  hyperscale history compare --baseline median:5 --line",
		Args:    command.AtMost("RUN"),
		RunE: f.reads(func(s *history.Store, w io.Writer, args []string) error {
			run, err := f.run(s, args)
			if err != nil {
				return err
			}
			base, err := baselineOf(s, run, baseline)
			if err != nil {
				return err
			}
			c, err := s.Compare(base, run, compare.Default())
			if err != nil {
				return command.AsUsage(err)
			}
			doubt := doubtOf(base, run)
			if err := printCompared(w, c, base, run, doubt, line, f.asJSON); err != nil {
				return err
			}
			if c.Verdict == compare.Regression && doubt == "" {
				return command.Exit(command.ExitThreshold, nil)
			}
			return nil
		}),
	}
	set := cmd.Flags()
	f.add(set)
	f.addOf(set)
	f.addJSON(set)
	set.StringVar(&baseline, "baseline", lastGood, "run to compare with: last-good, tag:`NAME`, or median:N of the last N good runs")
	set.BoolVar(&line, "line", false, "print one line, for a log of CI")
	return cmd
}

// baselineOf finds the run that a text names.
func baselineOf(s *history.Store, run *history.Run, text string) (*history.Run, error) {
	if text == lastGood {
		return s.LastGood(run)
	}
	if tag, ok := strings.CutPrefix(text, tagged); ok && tag != "" {
		return s.Tagged(run.Name, tag)
	}
	if count, ok := strings.CutPrefix(text, median); ok {
		if n, err := strconv.Atoi(count); err == nil && n >= 1 && n <= medianMax {
			return s.Median(run, n)
		}
	}
	return nil, command.Usage("--baseline %q: write last-good, tag:NAME, or median:N with N from 1 to %d", text, medianMax)
}

// doubtOf says why a comparison is no judgement; empty: it is one.
func doubtOf(base, run *history.Run) string {
	for _, r := range []*history.Run{run, base} {
		if why := r.Unjudged(); why != "" {
			return why
		}
	}
	if base.Job == run.Job {
		return fmt.Sprintf("both are run %d", run.Number)
	}
	if base.LoadDigest != run.LoadDigest {
		return fmt.Sprintf("another load: %s, now %s", loadOf(base, run), loadOf(run, base))
	}
	return ""
}

// loadOf tells a load from another one.
func loadOf(r, other *history.Run) string {
	if r.Load != other.Load {
		return r.Load
	}
	return r.Load + " (" + r.LoadDigest + ": other parameters or datacenters)"
}

func printCompared(w io.Writer, c *compare.Comparison, base, run *history.Run, doubt string, line, asJSON bool) error {
	if asJSON {
		return command.PrintJSON(w, struct {
			*compare.Comparison
			NotJudged string `json:"not_judged,omitempty"` // why the verdict is none
		}{c, doubt})
	}
	if !line {
		if _, err := io.WriteString(w, ui.Comparison(c, ui.StyleOf(os.Stdout))); err != nil {
			return err
		}
	}
	verdict := units.PairWord(c.Verdict)
	if doubt != "" {
		verdict = "Not judged"
	}
	text := fmt.Sprintf("%s: %s against run %d: %s", verdict, run.Title(), base.Number, units.PairLine(&c.Pairs[0]))
	if doubt != "" {
		text += "; " + doubt
	}
	_, err := fmt.Fprintln(w, units.Clean(text))
	return err
}
