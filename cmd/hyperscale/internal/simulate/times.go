package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/scenarios"
)

// barResult is the result of one bar. Fields may be added, never renamed.
type barResult struct {
	Name   string `json:"name"`
	Count  int    `json:"count"`
	Never  int    `json:"never"`
	Failed int    `json:"failed"` // runs that broke something
	P50    int64  `json:"p50_ms"`
	P99    int64  `json:"p99_ms"`
	Max    int64  `json:"max_ms"`
	Most   int64  `json:"most_ms"`
	Met    bool   `json:"met"`

	what string
	took []time.Duration
}

func newSimTimesCommand() *cobra.Command {
	var seeds seedRange
	var jobs int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "times",
		Short: "measure how long it takes until another node owns or runs what was lost",
		Long: `Play the worlds in which gates, managers and workers die or drain, once for each
seed. Print in virtual time how long it took until another gate owned a job, another
manager a subjob, another worker ran a shard, and a group had another leader. Each
row has the median, the 99th percentile, the longest, and the bar for the 99th.

In each run every client must have exactly one final result, and all invariants
must hold: any other run counts as failed.

Exit codes: 0 all bars are met, 1 one is not, 2 bad usage.`,
		Example: "  hyperscale sim times\n  hyperscale sim times --seeds 1..2000",
		Args:    command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			if jobs < 1 || jobs > 256 {
				return command.Usage("--jobs %d must be from 1 to 256: as many as there are cores", jobs)
			}
			return interruptible(func() error { return runTimes(cmd.OutOrStdout(), cmd.ErrOrStderr(), seeds, jobs, asJSON) })
		}),
	}
	addSeeds(cmd.Flags(), &seeds, "seeds", seedRange{1, 20}, "what is played")
	cmd.Flags().IntVar(&jobs, "jobs", 2, "runs at the same time, `N`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each bar")
	return cmd
}

// runTimes plays all seeds of each bar in turn.
func runTimes(out, progress io.Writer, seeds seedRange, jobs int, asJSON bool) error {
	met := true
	for _, bar := range scenarios.Bars() {
		r, err := measureBar(progress, bar, seeds, jobs)
		if err != nil {
			return err
		}
		met = met && r.Met
		if asJSON {
			err = json.NewEncoder(out).Encode(r)
		} else {
			_, err = fmt.Fprintf(out, "%-14s %-38s %6d times: p50 %6dms  p99 %6dms  longest %6dms, bar %6dms%s\n", r.Name, r.what, r.Count, r.P50, r.P99, r.Max, r.Most, r.trouble())
		}
		if err != nil {
			return err
		}
	}
	if !met {
		return simExit(command.ExitFailed)
	}
	return nil
}

func (r *barResult) trouble() string {
	text := ""
	if r.Never > 0 {
		text += fmt.Sprintf(", %d NEVER", r.Never)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d runs FAILED", r.Failed)
	}
	if !r.Met {
		text += ", NOT MET"
	}
	return text
}

func measureBar(progress io.Writer, bar scenarios.Bar, seeds seedRange, jobs int) (*barResult, error) {
	r := &barResult{Name: bar.Name, Most: bar.Most.Milliseconds(), what: bar.What}
	var mutex sync.Mutex
	var failure error
	var group sync.WaitGroup
	next, done := seeds.first, uint64(0)
	told := time.Now()
	for range jobs {
		group.Go(func() {
			for {
				mutex.Lock()
				seed, over := next, done > seeds.last-seeds.first || next > seeds.last || next < seeds.first || failure != nil
				next++
				mutex.Unlock()
				if over {
					return
				}
				took, report, err := scenarios.Measure(bar.Name, seed)
				mutex.Lock()
				done++
				if err != nil {
					failure = err
				}
				r.add(progress, &report, took)
				if time.Since(told) > 10*time.Second {
					told = time.Now()
					fmt.Fprintf(progress, "%s: %d of %d seeds\n", bar.Name, done, seeds.last-seeds.first+1)
				}
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	r.finish(bar)
	return r, failure
}

func (r *barResult) add(progress io.Writer, report *scenarios.Report, took []scenarios.Took) {
	if report.Outcome != scenarios.OK {
		r.Failed++
		fmt.Fprintf(progress, "%s, seed %d: %s\n", report.Scenario, report.Seed, report.Detail)
	}
	for _, t := range took {
		if t.Never {
			r.Never++
			continue
		}
		r.took = append(r.took, t.Time)
	}
}

func (r *barResult) finish(bar scenarios.Bar) {
	slices.Sort(r.took)
	r.Count = len(r.took)
	if r.Count > 0 {
		at := func(hundredths int) int64 { return r.took[(r.Count*hundredths+99)/100-1].Milliseconds() }
		r.P50, r.P99, r.Max = at(50), at(bar.Quantile), at(100)
	}
	r.Met = r.Count > 0 && r.Never == 0 && r.Failed == 0 && r.P99 <= r.Most
}
