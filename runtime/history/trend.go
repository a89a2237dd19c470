package history

import (
	"database/sql"
	"fmt"
	"slices"

	"hyperscale/runtime/history/change"
)

// Metric is a figure of a step that a series follows.
type Metric struct {
	Name   string
	value  string // of a row of hyperscale_result
	Shares bool   // it is a share, in parts per million: its effect is a difference
	More   bool   // more is worse
}

// Metrics lists the figures that a series can follow.
func Metrics() []Metric {
	all := []Metric{
		{Name: "rate", value: "t.rate_milli"},
		{Name: "errors", value: "coalesce(1e6 * (t.failed + t.timed_out) / nullif(t.ok + t.failed + t.timed_out, 0), -1)", Shares: true, More: true},
	}
	for _, name := range []string{"p50", "p90", "p95", "p99", "p999", "mean", "max"} {
		all = append(all, Metric{Name: name, value: "t." + name + "_ns", More: true})
	}
	return all
}

// Query names a series: one step of one workflow of one name, under one load.
type Query struct {
	Name, Workflow, Step string
	Load                 string // its digest; empty: that of the newest run with the step
	Metric               string // as in Metrics
	Last                 int    // runs, the newest ones
}

// Series is one figure over runs of one load.
type Series struct {
	Query
	Metric Metric
	Load   string // for people
	Points []Point
	Others []Other // other loads under which the step ran, the newest first
}

// Point is the figure of one run.
type Point struct {
	Run
	Value  float64 // ns, thousandths of a rate, or parts per million
	Judged bool    // the run is ground for a judgement, and has the figure
}

// Other is another load of the same step.
type Other struct {
	Load, Digest string
	Runs         int
}

// Places lists the names and workflows that have a step.
func (s *Store) Places(step string) (all []Query, err error) {
	err = s.each(s.db, func(rows *sql.Rows) error {
		q := Query{Step: step}
		if err := rows.Scan(&q.Name, &q.Workflow); err != nil {
			return err
		}
		all = append(all, q)
		return nil
	}, "SELECT DISTINCT r.name, t.workflow FROM hyperscale_run r JOIN hyperscale_result t USING (job) WHERE t.step = ? ORDER BY 1, 2", step)
	return all, err
}

// Series reads a series, the oldest run first.
func (s *Store) Series(q Query) (*Series, error) {
	all := &Series{Query: q}
	at := slices.IndexFunc(Metrics(), func(m Metric) bool { return m.Name == q.Metric })
	if at < 0 {
		return nil, s.failed("read", fmt.Errorf("there is no metric %q", q.Metric))
	}
	all.Metric = Metrics()[at]
	const from = " FROM hyperscale_run r JOIN hyperscale_result t USING (job) WHERE r.name = ? AND t.workflow = ? AND t.step = ? "
	err := s.each(s.db, func(rows *sql.Rows) error {
		var o Other
		var newest int
		if err := rows.Scan(&o.Load, &o.Digest, &o.Runs, &newest); err != nil {
			return err
		}
		if q.Load == "" {
			q.Load = o.Digest
		}
		if o.Digest == q.Load {
			all.Query.Load, all.Load = o.Digest, o.Load
		} else {
			all.Others = append(all.Others, o)
		}
		return nil
	}, "SELECT max(r.load), r.load_digest, count(*), max(r.number)"+from+"GROUP BY r.load_digest ORDER BY 4 DESC", q.Name, q.Workflow, q.Step)
	if err == nil {
		err = s.each(s.db, func(rows *sql.Rows) error {
			p := Point{}
			r, err := scan(rows, &p.Value)
			if err != nil {
				return err
			}
			p.Run = *r
			p.Judged = p.Unjudged() == "" && (p.Value > 0 || all.Metric.Shares && p.Value == 0)
			all.Points = append(all.Points, p)
			return nil
		}, "SELECT "+runColumns+", "+all.Metric.value+from+"AND r.load_digest = ? ORDER BY r.number DESC LIMIT ?", q.Name, q.Workflow, q.Step, q.Load, q.Last)
	}
	if err != nil {
		return nil, err
	}
	if len(all.Points) == 0 {
		return nil, s.failed("read", fmt.Errorf("%w with step %s of workflow %s under this load", ErrNone, q.Step, q.Workflow))
	}
	slices.Reverse(all.Points)
	return all, nil
}

// Shift is a change of a series' level.
type Shift struct {
	change.Point
	First Run      // of the new level
	Last  Run      // of the old one, among those that were judged
	Since []string // what else changed between the two
}

// Worse reports whether the level moved the wrong way.
func (s *Shift) Worse(m Metric) bool { return (s.After > s.Before) == m.More }

// Shifts finds the runs at which the level changed. Runs that are no ground for a judgement are left out.
func (s *Series) Shifts(o change.Options) (all []Shift) {
	var judged []Run
	var values []float64
	for i := range s.Points {
		if p := &s.Points[i]; p.Judged {
			judged, values = append(judged, p.Run), append(values, p.Value)
		}
	}
	if o.Linear = s.Metric.Shares; o.Linear {
		o.Effect *= shareUnit
	}
	for _, p := range change.Find(values, o) {
		first, last := &judged[p.At], &judged[p.At-1]
		all = append(all, Shift{Point: p, First: *first, Last: *last, Since: first.Since(&last.Change)})
	}
	return all
}

// shareUnit is a whole in parts per million: of a share, an effect of 0.03 is three points of a hundred.
const shareUnit = 1e6
