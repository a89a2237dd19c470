package recall

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/history"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// newList makes the command that lists runs.
func newList(use string) *cobra.Command {
	var f flags
	var last uint64
	cmd := &cobra.Command{
		Use:   use + " [FILE]",
		Short: "list the runs that were kept, the newest first",
		Long: `List the runs that run, demo and submit --wait kept, the newest first; of one
workflow file or address if you name it. p50 and p99 are of all requests. Under the
table stands the course of p99 for each load. A run that is no ground for a
judgement, as its generator was saturated, has a mark, and is no part of the course.`,
		Example: "  hyperscale history\n  hyperscale history list checkout.star --last 50\n  hyperscale history list checkout.star --json",
		Args:    command.AtMost("FILE"),
		RunE: f.reads(func(s *history.Store, w io.Writer, args []string) error {
			name := ""
			if len(args) > 0 {
				name = nameOf(args[0])
			}
			runs, err := s.Runs(name, int(last))
			if err != nil {
				return err
			}
			if len(runs) == 0 && name != "" {
				return fmt.Errorf("%w of %s", history.ErrNone, name)
			}
			if f.asJSON {
				return command.PrintJSON(w, listView(runs))
			}
			return printList(w, runs)
		}),
	}
	f.add(cmd.Flags())
	f.addJSON(cmd.Flags())
	command.AddCount(cmd.Flags(), &last, "last", 20, 1, 1000, "show so many runs at most")
	return cmd
}

// runView is a run as JSON has it.
type runView struct {
	Run          int       `json:"run"` // number of the name's runs, from 1
	Name         string    `json:"name"`
	Job          string    `json:"job"`
	StartedAt    time.Time `json:"started_at"`
	DurationNS   int64     `json:"duration_ns"`
	Outcome      string    `json:"outcome"`
	Load         string    `json:"load"`
	LoadDigest   string    `json:"load_digest"` // runs with the same are of one series
	Good         bool      `json:"good"`
	Saturated    bool      `json:"saturated"`
	ThresholdsOK bool      `json:"thresholds_ok"`
	Tag          string    `json:"tag"`
	Requests     uint64    `json:"requests"`
	Failed       uint64    `json:"failed"` // timed out ones, too
	P50NS        uint64    `json:"p50_ns"`
	P99NS        uint64    `json:"p99_ns"`
}

func viewOf(r *history.Run) runView {
	return runView{
		Run: r.Number, Name: r.Name, Job: r.Job, StartedAt: r.Started, DurationNS: int64(r.Duration), Outcome: r.Outcome, Load: r.Load, LoadDigest: r.LoadDigest, Good: r.Good,
		Saturated: r.Saturated, ThresholdsOK: r.ThresholdsOK, Tag: r.Tag, Requests: r.Requests, Failed: r.Failed, P50NS: r.P50, P99NS: r.P99,
	}
}

func listView(runs []history.Run) any {
	all := struct {
		Runs []runView `json:"runs"`
	}{Runs: []runView{}}
	for i := range runs {
		all.Runs = append(all.Runs, viewOf(&runs[i]))
	}
	return all
}

// whenLayout is of the times in tables, which are UTC.
const whenLayout = "2006-01-02 15:04"

// loadWide bounds a load in the table.
const loadWide = 40

func printList(w io.Writer, runs []history.Run) error {
	rows := [][]string{{"RUN", "FILE", "WHEN (UTC)", "LOAD", "OUTCOME", "P50", "P99", "ERRORS", "TAG"}}
	for i := range runs {
		r := &runs[i]
		rows = append(rows, []string{
			strconv.Itoa(r.Number), units.Shorten(r.Name, loadWide), r.Started.Format(whenLayout), units.Shorten(r.Load, loadWide), outcomeOf(r),
			units.LatencyOr(r.P50), units.LatencyOr(r.P99), units.Share(r.Failed, r.Requests), r.Tag,
		})
	}
	if err := command.PrintRows(w, rows); err != nil {
		return err
	}
	for _, line := range courses(runs) {
		if _, err := fmt.Fprintln(w, units.Clean(line)); err != nil {
			return err
		}
	}
	return nil
}

// outcomeOf says how a run ended, and what speaks against its figures.
func outcomeOf(r *history.Run) string {
	text := r.Outcome
	if !r.ThresholdsOK {
		text += ", threshold missed"
	}
	if r.Saturated {
		text += ", SATURATED"
	}
	return text
}

// courses draws p99 over the runs of each load, the oldest first.
func courses(runs []history.Run) (lines []string) {
	type series struct{ name, digest string }
	values, loads := map[series][]uint64{}, map[series]string{}
	var order []series
	for _, r := range slices.Backward(runs) {
		if r.Unjudged() != "" || r.P99 == 0 {
			continue
		}
		k := series{r.Name, r.LoadDigest}
		if values[k] == nil {
			order = append(order, k)
		}
		values[k], loads[k] = append(values[k], r.P99), r.Load
	}
	for _, k := range order {
		if v := values[k]; len(v) > 1 {
			lines = append(lines, fmt.Sprintf("p99 of %s, %s: %s %s to %s", units.Shorten(k.name, loadWide), units.Shorten(loads[k], loadWide), sparkline(v), units.Latency(slices.Min(v)), units.Latency(slices.Max(v))))
		}
	}
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

// sparkline draws values as bars of eight heights, or of digits where the terminal has no others.
func sparkline(values []uint64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	if ui.StyleOf(os.Stdout).ASCII {
		bars = []rune("12345678")
	}
	least, most := slices.Min(values), slices.Max(values)
	var b strings.Builder
	for _, v := range values {
		at := len(bars) / 2
		if most > least {
			at = int(float64(v-least)/float64(most-least)*float64(len(bars)-1) + 0.5)
		}
		b.WriteRune(bars[at])
	}
	return b.String()
}
