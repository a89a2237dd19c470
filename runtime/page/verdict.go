package page

import (
	"fmt"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// The sorts of news: each is a class of page.css, and has a sign, as a colour says nothing to some.
const (
	good = "good"
	warn = "warn"
	bad  = "bad"
)

// verdict is the part for a reader who reads no further.
type verdict struct {
	Title, Class, Word string
	Sentence           string
	Reason             string // of a job that did not complete
	Trust              string // in the good case; else Warnings say why not
	Warnings           []string
	Thresholds         table
	Figures            []fact
	When               string
}

// fact is a key figure.
type fact struct{ Name, Value, More string }

func (d *drawer) verdict() verdict {
	r := d.result
	v := verdict{Title: d.named(r.Name), Reason: d.told(r.Error), Sentence: d.sentence(), Figures: d.figures(), Thresholds: d.thresholds()}
	v.Class, v.Word = d.word()
	v.When = units.Duration(time.Duration(r.DurationNS)) + " in all"
	if at, err := time.Parse(time.RFC3339Nano, r.StartedAt); err == nil {
		v.When = at.Format("2 January 2006, 15:04:05 MST") + ", " + v.When
	}
	if r.Job != "" {
		v.When += ", job " + d.named(r.Job)
	}
	for _, text := range ui.Doubts(r) {
		v.Warnings = append(v.Warnings, "These figures are the generator's as much as the target's. "+text)
	}
	for i := range r.Workflows {
		v.Warnings = append(v.Warnings, d.losses(&r.Workflows[i])...)
	}
	if len(v.Warnings) == 0 && r.Requested.Started > 0 {
		v.Trust = "✓ Trust these figures: the generator kept up, and no attempt was lost."
	}
	return v
}

// losses says what a workflow's lost attempts cost, and what no figure knows of them.
func (d *drawer) losses(w *report.Workflow) (all []string) {
	if len(w.Lost) == 0 {
		return nil
	}
	var unreported int64
	for i := range w.Lost {
		unreported += w.Lost[i].UnreportedNS
	}
	text := d.named(w.Name) + ": " + units.Counted(uint64(len(w.Lost)), "attempt") + " lost"
	if unreported > 0 {
		text += fmt.Sprintf("; the target has seen at most %s of load that is in no figure here", units.Duration(time.Duration(unreported)))
	}
	all = append(all, text+".")
	if gap := ui.GapText(w); gap != "" {
		all = append(all, d.named(w.Name)+": "+gap+".")
	}
	return all
}

// missed counts the thresholds that were not met.
func missed(all []report.Threshold) (n int) {
	for _, t := range all {
		if !t.OK {
			n++
		}
	}
	return n
}

// word is the outcome in one or two words, and its class.
func (d *drawer) word() (class, word string) {
	r := d.result
	switch r.Outcome {
	case message.JobCompleted.String():
		switch {
		case missed(r.Thresholds) > 0:
			return bad, "Thresholds missed"
		case len(r.Thresholds) > 0:
			return good, "Passed"
		}
		return good, "Completed"
	case message.JobPartial.String():
		return warn, "Partly failed"
	case message.JobCancelled.String():
		return warn, "Cancelled"
	case message.JobTimedOut.String():
		return bad, "Timed out"
	case message.JobFailed.String():
		return bad, "Failed"
	}
	return warn, d.named(r.Outcome)
}

// sentence describes the outcome in a sentence.
func (d *drawer) sentence() string {
	r, t := d.result, &d.result.Requested
	var parts []string
	if n := len(r.Missing); n > 0 {
		parts = append(parts, fmt.Sprintf("Partial: best effort left out %s, whose load may have reached the target and counts nowhere.", units.Counted(uint64(n), "datacenter")))
	}
	switch n, all := missed(r.Thresholds), len(r.Thresholds); {
	case all == 0:
	case n == 0 && all == 1:
		parts = append(parts, "The threshold was met.")
	case n == 0:
		parts = append(parts, fmt.Sprintf("All %d thresholds were met.", all))
	default:
		parts = append(parts, fmt.Sprintf("%d of %s missed.", n, units.Counted(uint64(all), "threshold")))
	}
	if t.Started == 0 {
		return strings.Join(append(parts, "No request was sent."), " ")
	}
	said := fmt.Sprintf("%s of %s were answered as expected", units.Share(t.OK, t.Started), units.Counted(t.Started, "request"))
	if h := d.whole(); h != nil {
		said += fmt.Sprintf(": half within %s, 99 of 100 within %s", units.Latency(h.Quantile(500_000)), units.Latency(h.Quantile(990_000)))
	}
	return strings.Join(append(parts, said+"."), " ")
}

// whole is the latency of all steps, merged; nil where a result has no histograms.
func (d *drawer) whole() *stats.Histogram {
	all := new(stats.Histogram)
	for i := range d.result.Workflows {
		leaves := d.result.Workflows[i].Leaves()
		for k := range leaves {
			if h := d.histogramOf(&leaves[k]); h != nil {
				all.Merge(h)
			}
		}
	}
	if all.Count() == 0 {
		return nil
	}
	return all
}

func (d *drawer) figures() []fact {
	t := &d.result.Requested
	var rate uint64
	for i := range d.result.Workflows {
		for _, s := range d.result.Workflows[i].Leaves() {
			rate += s.RateMilli
		}
	}
	out := []fact{
		{"requests", units.Count(t.Started), units.Milli(rate) + " a second"},
		{"as expected", units.Share(t.OK, t.Started), units.Count(t.OK)},
		{"failed", units.Count(t.Failed), units.Share(t.Failed, t.Started)},
		{"timed out", units.Count(t.TimedOut), units.Share(t.TimedOut, t.Started)},
	}
	if h := d.whole(); h != nil {
		out = append(out, fact{"median", units.Latency(h.Quantile(500_000)), "latency"},
			fact{"99th percentile", units.Latency(h.Quantile(990_000)), "at most " + units.Latency(h.Max())})
	}
	out = append(out, fact{"received", units.Bytes(t.BytesIn), units.Bytes(t.BytesOut) + " sent"})
	if t.Dropped > 0 {
		out = append(out, fact{"never started", units.Count(t.Dropped), "no virtual user was free"})
	}
	if t.Cancelled > 0 {
		out = append(out, fact{"cancelled", units.Count(t.Cancelled), "in flight at the end"})
	}
	return out
}

func (d *drawer) thresholds() table {
	t := table{Caption: "Thresholds", Head: heads("", "threshold", "#measured"), More: more(len(d.result.Thresholds), d.rows, "threshold")}
	several := len(d.result.Workflows) > 1
	for _, one := range first(d.result.Thresholds, d.rows) {
		sign := cell{Text: "✓ met", Class: good}
		if !one.OK {
			sign = cell{Text: "✗ missed", Class: bad}
		}
		row := []cell{sign, {Text: d.told(one.Expr)}, {Text: ui.ThresholdValue(one)}}
		if several { // a column of its own would not fit a phone
			row[1].Under = d.named(one.Workflow)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
