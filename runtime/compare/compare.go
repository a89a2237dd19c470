package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hyperscale/runtime/report"
)

// million is the denominator of shares.
const million = 1_000_000

// Options say how to judge.
type Options struct {
	AlphaPPM     uint32   // chance that some interval of a pair misses
	TolerancePPM uint32   // change below which nothing is called
	QuantilesPPM []uint32 // of latency
}

// errorFloorPPM is the change in the share of errors below which nothing is called: one
// request in a thousand. It does not follow the tolerance, which is a share of a figure
// that is zero in a good run.
const errorFloorPPM = 1_000

// Default allows a false alarm in 5 % of comparisons, and reports nothing below 2 %. Smaller
// values would report changes that the next equal run takes back; larger ones would miss
// regressions.
func Default() Options {
	return Options{AlphaPPM: 50_000, TolerancePPM: 20_000, QuantilesPPM: []uint32{500_000, 900_000, 950_000, 990_000}}
}

// File is a result and what its file is called.
type File struct {
	Name   string
	Result *report.Result
}

// ErrNothing is of files without a step in common.
var ErrNothing = errors.New("no step is in both")

// Compare compares each of others with a baseline.
func Compare(baseline File, others []File, o Options) (*Comparison, error) {
	o.QuantilesPPM = slices.Compact(slices.Sorted(slices.Values(o.QuantilesPPM)))
	c := &Comparison{
		Schema: Schema, AlphaPPM: o.AlphaPPM, TolerancePPM: o.TolerancePPM, QuantilesPPM: o.QuantilesPPM, ErrorFloorPPM: errorFloorPPM,
		Baseline: runOf(baseline), Pairs: []Pair{},
	}
	for _, other := range others {
		p, err := comparePair(baseline, other, &o)
		if err != nil {
			return nil, fmt.Errorf("compare %s with %s: %w", other.Name, baseline.Name, err)
		}
		c.Pairs = append(c.Pairs, *p)
	}
	c.Verdict = worst(c.Pairs, func(p *Pair) Verdict { return p.Verdict }, Regression, Improvement, Noise, Same, Few)
	return c, nil
}

func runOf(f File) Run {
	r := f.Result
	return Run{File: f.Name, Job: r.Job, Name: r.Name, Outcome: r.Outcome, StartedAt: r.StartedAt, DurationNS: r.DurationNS, Result: r}
}

// worst is the first of some verdicts that something has.
func worst[T any](all []T, of func(*T) Verdict, order ...Verdict) Verdict {
	for _, v := range order {
		for i := range all {
			if of(&all[i]) == v {
				return v
			}
		}
	}
	return Untold
}

func comparePair(baseline, other File, o *Options) (*Pair, error) {
	rates := pacingOf(baseline.Result, other.Result)
	p := &Pair{Run: runOf(other), Cautions: cautions(baseline.Result, other.Result, rates), Steps: []Step{}, Gone: []Place{}, Added: []Place{}}
	before, order := steps(baseline.Result)
	after, orderAfter := steps(other.Result)
	for _, at := range order {
		if after[at] == nil {
			p.Gone = append(p.Gone, at)
			continue
		}
		p.Steps = append(p.Steps, Step{Place: at, Before: before[at], After: after[at]})
	}
	for _, at := range orderAfter {
		if before[at] == nil {
			p.Added = append(p.Added, at)
		}
	}
	if len(p.Steps) == 0 {
		return nil, fmt.Errorf("%w: give results of the same workflow", ErrNothing)
	}
	for i := range p.Steps {
		p.Tests += len(o.QuantilesPPM) + 1 // and the rate
		if failures(p.Steps[i].Before)+failures(p.Steps[i].After) > 0 {
			p.Tests++
		}
	}
	t := test{Options: o, alpha: float64(o.AlphaPPM) / million / float64(p.Tests)}
	for i := range p.Steps {
		s := &p.Steps[i]
		if err := t.step(s, rates.of(s.Workflow)); err != nil {
			return nil, err
		}
	}
	p.Verdict = worst(p.Steps, func(s *Step) Verdict { return s.Verdict }, Worse, Better, Noise, Same, Few)
	switch p.Verdict {
	case Worse:
		p.Verdict = Regression
	case Better:
		p.Verdict = Improvement
	}
	return p, nil
}

// steps finds the steps by place; of two with one name the first.
func steps(r *report.Result) (map[Place]*report.Step, []Place) {
	all, order := map[Place]*report.Step{}, []Place{}
	for i := range r.Workflows {
		w := &r.Workflows[i]
		for _, list := range [][]report.Step{w.Steps, w.Requests} {
			for k := range list {
				at := Place{w.Name, list[k].Name}
				if all[at] == nil {
					all[at] = &list[k]
					order = append(order, at)
				}
			}
		}
	}
	return all, order
}

// test judges one pair.
type test struct {
	*Options
	alpha float64 // of one figure
}

func (t *test) step(s *Step, paced bool) error {
	curves := [2]*curve{}
	for i, side := range []*report.Step{s.Before, s.After} {
		h, err := side.Buckets.Histogram()
		if err != nil {
			return fmt.Errorf("step %s: latency_buckets: %w", s.Step, err)
		}
		curves[i] = newCurve(h)
		s.Ended[i] = side.OK + side.Failed + side.TimedOut
		s.Design[i] = designOf(side, curves[i], t.QuantilesPPM)
		for k, ppm := range t.QuantilesPPM {
			if i == 0 {
				s.Latency = append(s.Latency, Change{Figure: FigureName(ppm), Base: h.Quantile(ppm)})
			}
			s.Latency[k].New = h.Quantile(ppm)
		}
	}
	for k, ppm := range t.QuantilesPPM {
		t.quantile(s, k, curves, ppm)
	}
	t.errors(s)
	t.rate(s, paced)
	s.Service = service(s)
	s.Verdict = worst(append([]Change{s.Errors, s.Rate}, s.Latency...), func(c *Change) Verdict { return c.Verdict }, Worse, Better, Noise)
	if s.Verdict == Untold { // nothing changed, or the latency is unknown
		s.Verdict = worst(s.Latency, func(c *Change) Verdict { return c.Verdict }, Same, Few)
	}
	return nil
}

// FigureName writes a quantile as people do: p50, p99.9.
func FigureName(ppm uint32) string { return fmt.Sprintf("p%v", float64(ppm)/(million/100)) }

// critical is in standard errors. Where dependence was estimated, its own error counts.
func (t *test) critical(s *Step) float64 {
	if s.Design[0].Known && s.Design[1].Known {
		return student(t.alpha, freedom)
	}
	if s.Design[0].Known || s.Design[1].Known {
		return student(t.alpha, freedom/2)
	}
	return student(t.alpha, 0)
}

func (t *test) quantile(s *Step, k int, curves [2]*curve, ppm uint32) {
	c := &s.Latency[k]
	for i, side := range curves {
		if side.count() == 0 {
			c.Verdict = Few
			if s.Ended[i] > 0 {
				c.Verdict = Untold // a file of before histograms were kept
			}
			return
		}
	}
	q := float64(ppm) / million
	c.ChangePPM = ppmOf(math.Log(curves[1].at(q)) - math.Log(curves[0].at(q)))
	var bounds [2]interval
	for i, side := range curves {
		bounds[i] = side.quantile(q, side.count()/s.Design[i].Latency[k], t.critical(s))
	}
	d := difference(bounds[0], bounds[1])
	if math.IsInf(d.low, 0) && math.IsInf(d.high, 0) {
		c.Verdict = Few
		return
	}
	c.judge(ppmOf(d.low), ppmOf(d.value), ppmOf(d.high), t.TolerancePPM, true)
}

// endedLeast is of how many independent requests a share of errors is worth telling.
const endedLeast = 20

func (t *test) errors(s *Step) {
	s.Errors = Change{Figure: "errors"}
	var bounds [2]interval
	few := false
	for i, side := range []*report.Step{s.Before, s.After} {
		n := float64(s.Ended[i]) / s.Design[i].Errors
		if n < endedLeast {
			few = true
			continue
		}
		bounds[i] = proportion(float64(failures(side))/float64(s.Ended[i]), n, t.critical(s))
	}
	s.Errors.Base, s.Errors.New = sharePPM(s.Before), sharePPM(s.After)
	if few {
		s.Errors.ChangePPM, s.Errors.Verdict = int64(s.Errors.New)-int64(s.Errors.Base), Few
		return
	}
	d := difference(bounds[0], bounds[1])
	s.Errors.judge(int64(math.Round(d.low*million)), int64(math.Round(d.value*million)), int64(math.Round(d.high*million)), errorFloorPPM, true)
}

func failures(s *report.Step) uint64 { return s.Failed + s.TimedOut }

func sharePPM(s *report.Step) uint64 {
	bad := float64(s.Failed) + float64(s.TimedOut)
	all := bad + float64(s.OK)
	if all == 0 {
		return 0
	}
	return uint64(math.Round(bad / all * million))
}

// rate is judged if virtual users request as fast as they get answers. If the workflow sets a
// rate, a lower one may be intended: then it is only reported.
func (t *test) rate(s *Step, paced bool) {
	s.Rate = Change{Figure: "rate", Base: s.Before.RateMilli, New: s.After.RateMilli, Verdict: Few}
	if s.Rate.Base == 0 || s.Rate.New == 0 {
		return
	}
	d := math.Log(float64(s.Rate.New)) - math.Log(float64(s.Rate.Base))
	s.Rate.ChangePPM = ppmOf(d)
	if s.Design[0].Rate < 0 || s.Design[1].Rate < 0 {
		return
	}
	half := t.critical(s) * math.Hypot(s.Design[0].Rate, s.Design[1].Rate)
	s.Rate.judge(ppmOf(d-half), ppmOf(d), ppmOf(d+half), t.TolerancePPM, false)
	if paced {
		s.Rate.Verdict = Untold
	}
}

// service compares the time from the first written byte, for which files keep no histogram.
func service(s *Step) []Change {
	a, b := &s.Before.ServiceNS, &s.After.ServiceNS
	all := []Change{{Figure: "p50", Base: a.P50, New: b.P50}, {Figure: "p95", Base: a.P95, New: b.P95}, {Figure: "p99", Base: a.P99, New: b.P99}}
	for i := range all {
		c := &all[i]
		c.Verdict = Untold
		if c.Base > 0 && c.New > 0 {
			c.ChangePPM = ppmOf(math.Log(float64(c.New)) - math.Log(float64(c.Base)))
		}
	}
	return all
}

// Boundless is the upper end of an interval that too few requests leave open. The lower end is
// then -1,000,000, as no figure falls by more than 100 %.
const Boundless = 1 << 53

// ppmOf converts a difference of logarithms to parts per million.
func ppmOf(logarithm float64) int64 {
	return int64(math.Round(max(min(math.Expm1(logarithm)*million, Boundless), -million)))
}

// judge says what an interval means for a figure of which more is worse, or better.
func (c *Change) judge(low, value, high int64, floor uint32, moreIsWorse bool) {
	c.Tested, c.LowPPM, c.ChangePPM, c.HighPPM = true, low, value, high
	up, down := Worse, Better
	if !moreIsWorse {
		up, down = Better, Worse
	}
	switch {
	case max(value, -value) < int64(floor) || value == 0:
		c.Verdict = Same
	case low > 0:
		c.Verdict = up
	case high < 0:
		c.Verdict = down
	default:
		c.Verdict = Noise
	}
}
