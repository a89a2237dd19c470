package ui

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
	"hyperscale/runtime/report"
)

// judged is a threshold as it stands.
type judged struct {
	report.Threshold
	known bool // something happened that it can be judged by
	plan  *message.Threshold
}

// Standing is a threshold as it stands while its job runs.
type Standing struct {
	report.Threshold
	Known bool               // something happened that it can be judged by
	Plan  *message.Threshold // what it asks for
}

// Standings are all thresholds as they stand, in the plan's order.
func (m *Model) Standings() (all []Standing) {
	for _, f := range m.flows {
		for _, j := range f.judged {
			all = append(all, Standing{j.Threshold, j.known, j.plan})
		}
	}
	return all
}

// judge evaluates the thresholds as if the run ended now.
func (f *flow) judge() {
	f.judged = f.judged[:0]
	for i := range f.thresholds {
		t := &f.thresholds[i]
		j := judged{Threshold: report.Threshold{Workflow: f.name, Expr: t.Expr, Of: t.Of.Name()}, plan: t}
		if f.now.Elapsed > 0 {
			j.take(t, f)
		}
		f.judged = append(f.judged, j)
	}
}

// take judges one by what its datacenters reported so far.
func (j *judged) take(t *message.Threshold, f *flow) {
	s, lasted := &f.now, f.now.Elapsed
	if t.Partial() { // parts are of the workflow's time, wherever it runs
		lasted = 0
		for _, part := range f.shares {
			lasted = max(lasted, part.now.Elapsed)
		}
	}
	if t.Datacenter != "" {
		at := slices.IndexFunc(f.shares, func(s share) bool { return s.place == t.Datacenter })
		if at < 0 {
			return
		}
		s = f.shares[at].now
		lasted = s.Elapsed
	}
	got, err := verdict.Judge(t, s, verdict.Length{Planned: f.planned, Elapsed: lasted}, quantile)
	if err != nil || t.Partial() && !got.Measured {
		return // that part of the time has not begun
	}
	j.known, j.OK, j.Unmeasured = true, got.OK, !got.Measured
	j.Value, j.FromNS, j.UntilNS = got.Value, int64(got.From), int64(got.Until)
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
