package verdict

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"time"

	"hyperscale/core/message"
)

// Quantile returns one quantile of a histogram, in parts per million.
type Quantile = func(h message.Histogram, ppm uint32) (uint64, error)

const million = 1_000_000

// fraction is count times scale, divided by over. It is compared without the division: rounding
// decides no verdict.
type fraction struct{ count, scale, over uint64 }

// Clock returns how long a workflow took, gaps included: by the executors' own
// clocks if they reported, else by the cluster's.
func Clock(w *message.WorkflowResult) time.Duration { return cmp.Or(w.Stats.Elapsed, w.Duration) }

// Judgement is what a threshold says. The zero Judgement is of one that nothing happened to.
type Judgement struct {
	Value    int64 // in the unit of Of, rounded down
	OK       bool  // the condition holds
	Measured bool  // something happened that it could judge: VERDICT-2

	// The worst of its windows; zero without windows.
	From, Until time.Duration
}

// Length is how long a workflow lasts: as planned, zero if only its iterations end it, and as it
// did so far.
type Length struct{ Planned, Elapsed time.Duration }

// Judge judges a threshold on the merged statistics of its workflow.
func Judge(t *message.Threshold, s *message.Stats, long Length, q Quantile) (Judgement, error) {
	if t.Partial() {
		return judgeParts(t, s, long, q)
	}
	f, err := compute(t, s, long.Elapsed-s.Gap, q) // VERDICT-5
	if err != nil || f.over == 0 {
		return Judgement{}, err
	}
	return f.judged(t), nil
}

func (f fraction) judged(t *message.Threshold) Judgement {
	return Judgement{Value: f.value(), OK: f.holds(t.Op, t.Bound), Measured: true}
}

// compute returns the value, with over 0 if nothing happened.
func compute(t *message.Threshold, s *message.Stats, elapsed time.Duration, q Quantile) (f fraction, err error) {
	switch t.Of {
	case message.OfLatency, message.OfService, message.OfPhase, message.OfMeasure, message.OfAmount:
		f, err = latency(t, s, q)
	case message.OfCount:
		f, err = count(t, s)
	case message.OfErrors, message.OfChecks:
		f, err = share(t, s)
	case message.OfRate:
		f, err = rate(t, s, elapsed)
	case message.OfMetric:
		f, err = metric(t, s, q)
	default:
		err = fmt.Errorf("it looks at %d, which is nothing", t.Of)
	}
	if err != nil {
		return fraction{}, fmt.Errorf("threshold %q: %w", t.Expr, err)
	}
	return f, nil
}

// steps selects the rows of a threshold: what it names, else all that its figure is about.
func steps(t *message.Threshold, s *message.Stats, all func(*message.Stats, *message.StepStats) bool) ([]*message.StepStats, error) {
	var found []*message.StepStats
	for i := range s.Steps {
		step := &s.Steps[i]
		if t.Looks(step.Name) && (t.Names() || all(s, step)) {
			found = append(found, step)
		}
	}
	if len(found) == 0 && t.Step != "" && len(s.Steps) > 0 {
		return nil, fmt.Errorf("the statistics have no step %q", t.Step)
	}
	return found, nil
}

func requests(s *message.Stats, step *message.StepStats) bool { return s.CountsRequests(step) }

// outcomes selects what can fail: requests, and functions.
func outcomes(_ *message.Stats, step *message.StepStats) bool {
	return step.Kind.Measured() || step.Kind.Requests()
}

func checks(_ *message.Stats, step *message.StepStats) bool { return step.Kind == message.StepCheck }

func nothing(*message.Stats, *message.StepStats) bool { return false }

func latency(t *message.Threshold, s *message.Stats, q Quantile) (fraction, error) {
	found, err := steps(t, s, requests)
	if err != nil {
		return fraction{}, err
	}
	all := make([]message.Histogram, len(found))
	for i, step := range found {
		all[i] = times(t, step)
	}
	h, err := merge(all)
	if err != nil {
		return fraction{}, err
	}
	return statistic(t, h, q)
}

// times are the times of a step that a threshold looks at.
func times(t *message.Threshold, step *message.StepStats) message.Histogram {
	switch t.Of {
	case message.OfService:
		return step.Service
	case message.OfPhase:
		for i := range step.Phases {
			if step.Phases[i].Phase == t.Phase {
				return step.Phases[i].Time
			}
		}
		return message.Histogram{}
	case message.OfMeasure, message.OfAmount:
		if m := measure(t, step); m != nil {
			return m.Times
		}
		return message.Histogram{}
	}
	return step.Latency
}

// measure is the measure of a step that a threshold looks at; nil: it did not happen.
func measure(t *message.Threshold, step *message.StepStats) *message.Measure {
	for i := range step.Measures.List {
		if step.Measures.List[i].Name == t.Measure {
			return &step.Measures.List[i]
		}
	}
	return nil
}

// count counts the occurrences of a measure, in thousandths. A step that started and had none has
// 0 of them.
func count(t *message.Threshold, s *message.Stats) (f fraction, err error) {
	found, err := steps(t, s, requests)
	if err != nil {
		return fraction{}, err
	}
	for _, step := range found {
		if step.Started > 0 {
			f.scale, f.over = 1000, 1
		}
		if m := measure(t, step); m != nil {
			f.count, f.scale, f.over = f.count+m.Count, 1000, 1
		}
	}
	return f, nil
}

// share counts failures, or passes of checks, in parts per million of all that ended by
// themselves.
func share(t *message.Threshold, s *message.Stats) (fraction, error) {
	wanted := outcomes
	if t.Of == message.OfChecks {
		wanted = checks
	}
	found, err := steps(t, s, wanted)
	if err != nil {
		return fraction{}, err
	}
	var good, bad uint64
	for _, step := range found {
		good += step.OK
		bad += step.Failed + step.TimedOut
	}
	if t.Of == message.OfChecks {
		return fraction{good, million, good + bad}, nil
	}
	return fraction{bad, million, good + bad}, nil
}

// rate returns thousandths a second: of requests, or of a metric's sum.
func rate(t *message.Threshold, s *message.Stats, elapsed time.Duration) (fraction, error) {
	found, err := steps(t, s, requests)
	if err != nil || elapsed <= 0 {
		return fraction{}, err
	}
	var finished uint64
	for _, step := range found {
		if step.Kind == message.StepMetric {
			return fraction{step.Metric.Sum, uint64(time.Second), uint64(elapsed)}, nil
		}
		finished += step.OK + step.Failed + step.TimedOut
	}
	if finished == 0 {
		return fraction{}, nil
	}
	return fraction{finished, 1000 * uint64(time.Second), uint64(elapsed)}, nil
}

func metric(t *message.Threshold, s *message.Stats, q Quantile) (fraction, error) {
	found, err := steps(t, s, nothing)
	if err != nil || len(found) == 0 {
		return fraction{}, err
	}
	return statistic(t, found[0].Metric, q)
}

func statistic(t *message.Threshold, h message.Histogram, q Quantile) (fraction, error) {
	if h.Count == 0 {
		return fraction{}, nil
	}
	switch t.Statistic {
	case message.StatMin:
		return fraction{h.Min, 1, 1}, nil
	case message.StatMax:
		return fraction{h.Max, 1, 1}, nil
	case message.StatMean:
		return fraction{h.Sum, 1, h.Count}, nil
	case message.StatSum:
		return fraction{h.Sum, 1, 1}, nil
	case message.StatCount:
		return fraction{h.Count, 1000, 1}, nil // in thousandths, as every number of a metric
	}
	v, err := q(h, t.Quantile)
	return fraction{v, 1, 1}, err
}

// value rounds down, to what an int64 can hold.
func (f fraction) value() int64 {
	high, low := bits.Mul64(f.count, f.scale)
	if high >= f.over {
		return math.MaxInt64
	}
	n, _ := bits.Div64(high, low, f.over)
	return int64(min(n, math.MaxInt64))
}

// holds compares count*scale with bound*over.
func (f fraction) holds(op message.ThresholdOp, bound int64) bool {
	if bound < 0 {
		return op == message.OpAbove || op == message.OpAtLeast
	}
	high, low := bits.Mul64(f.count, f.scale)
	boundHigh, boundLow := bits.Mul64(uint64(bound), f.over)
	below := high < boundHigh || high == boundHigh && low < boundLow
	equal := high == boundHigh && low == boundLow
	switch op {
	case message.OpBelow:
		return below
	case message.OpAtMost:
		return below || equal
	case message.OpAbove:
		return !below && !equal
	case message.OpAtLeast:
		return !below
	}
	return false
}
