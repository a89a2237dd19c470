package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/checker/history"
	"hyperscale/cmd/chaos/internal/flood"
)

// Bounds of a process's growth, from its start to its end, that is no leak.
const (
	goroutinesMore = 20
	heapMore       = 64 << 20
)

// peakMost bounds the memory of a node that is flooded.
const peakMost = 192 << 20

// driftPPM is the bound that the nodes count on; all read one clock here.
const driftPPM = 10_000

// report is the outcome of a run.
type report struct {
	faults        []string
	submitted     int
	acknowledged  int
	late          []string // acknowledged and without an end in time
	slowest       time.Duration
	quiet         time.Duration // from healing to the end
	before, after map[string]size
	grown         []string
	events        int
	results       int // that were judged, too
	violations    []checker.Violation
	handovers     handovers
	replaced      []replacement
	broken        []string // why the replacement of gates did not go as it must

	flood *flood.Report // nil: there was none
	peak  int64         // most memory of a node until the flood's end
}

func (r *report) good() bool {
	if r.flood != nil {
		if served, refused := r.flood.Answered(); r.peak > peakMost || served == 0 || refused == 0 {
			return false
		}
	}
	return len(r.late)+len(r.broken) == 0 && len(r.grown) == 0 && len(r.violations) == 0 && r.acknowledged > 0 && r.results > 0
}

func (r *report) String() string {
	word := "good"
	if !r.good() {
		word = "BAD"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d faults, %d jobs submitted, %d acknowledged, all answered %v after healing, %d events and %d results judged", word,
		len(r.faults), r.submitted, r.acknowledged, r.slowest, r.events, r.results)
	for i := range r.replaced {
		fmt.Fprintf(&b, "\n  %v", &r.replaced[i])
	}
	if r.handovers.any() {
		fmt.Fprintf(&b, "\n  registers: %v", r.handovers)
	}
	if r.flood != nil {
		fmt.Fprintf(&b, "\n  %s, a node took %d MiB of at most %d", summary(r.flood), r.peak>>20, peakMost>>20)
	}
	for _, list := range [][]string{r.late, r.broken, r.grown} {
		for _, line := range list {
			b.WriteString("\n  " + line)
		}
	}
	for _, v := range r.violations {
		b.WriteString("\n  " + v.String())
	}
	return b.String()
}

// judge reads all histories of a run, in the order in which things happened: all
// processes read one clock. No history holds the end of its process: deaths do.
func (r *report) judge(dir string, died []death, born []birth) error {
	for _, name := range slices.Sorted(maps.Keys(r.before)) {
		b, a := r.before[name], r.after[name]
		if a.goroutines == 0 || a.goroutines > b.goroutines+goroutinesMore || a.heap > b.heap+heapMore {
			r.grown = append(r.grown, fmt.Sprintf("%s: %.0f goroutines became %.0f, heap %.0f MiB became %.0f MiB", name,
				b.goroutines, a.goroutines, b.heap/(1<<20), a.heap/(1<<20)))
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.history"))
	if err != nil {
		return err
	}
	var all []io.Reader
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		all = append(all, f)
	}
	records, err := history.Merge(all...)
	if err != nil {
		return err
	}
	c := checker.New()
	c.Assume(checker.Assumptions{DriftPPM: driftPPM, Quiet: r.quiet})
	observe(c, records, died)
	r.events, r.handovers = len(records), handed(records, born)
	if n := len(records); n > 0 {
		if r.results, err = told(dir, c, checker.Record{At: records[n-1].At}); err != nil {
			return err
		}
		c.Finish(records[n-1].At, time.Minute)
	}
	r.violations = c.Violations()
	return nil
}
