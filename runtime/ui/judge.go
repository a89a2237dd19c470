package ui

import (
	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
	"hyperscale/runtime/report"
)

// judged is a threshold as it stands.
type judged struct {
	report.Threshold
	known bool // something happened that it can be judged by
}

// judge evaluates the thresholds as if the run ended now.
func (f *flow) judge() {
	f.judged = f.judged[:0]
	for i := range f.thresholds {
		t := &f.thresholds[i]
		j := judged{Threshold: report.Threshold{Workflow: f.name, Expr: t.Expr, Of: report.OfName(t.Of)}}
		if f.now.Elapsed > 0 {
			value, ok, err := verdict.Evaluate(t, &f.now, f.now.Elapsed, quantile)
			j.Value, j.OK, j.known = value, ok, err == nil
		}
		f.judged = append(f.judged, j)
	}
}

func quantile(h message.Histogram, ppm uint32) (uint64, error) {
	read, err := stats.FromWire(h)
	if err != nil {
		return 0, err
	}
	return read.Quantile(ppm), nil
}

// verdicts are all thresholds as they stand.
func (m *Model) verdicts() (all []judged, broken int) {
	for _, f := range m.flows {
		for _, j := range f.judged {
			if j.known && !j.OK {
				broken++
			}
			all = append(all, j)
		}
	}
	return all, broken
}
