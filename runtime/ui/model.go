package ui

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// Bounds of what is kept while a job runs.
const (
	// sampleEvery is how much of the executors' time a figure of "now" covers. Less
	// jumps with every burst, more hides a stall.
	sampleEvery = time.Second
	// The model keeps pointsMax points. Beyond that it joins neighbours, so that the whole run
	// stays visible.
	pointsMax = 1200
)

// Model is a job as its statuses have described it so far.
type Model struct {
	Name     string
	State    message.JobState
	Reason   string
	Position uint32
	Elapsed  time.Duration // since it was accepted
	Points   []Point       // of the whole job, one a sample, oldest first
	flows    []*flow
	places   []*place
	sinks    []report.Sink // of the cluster
	watched  bool          // without its plan
	sequence uint64
}

// Point is one interval of the whole job.
type Point struct {
	At, Took             time.Duration // when it ended, by the time that load was sent; its length
	RateMilli, FailMilli uint64        // requests that ended, and that failed, a second, in thousandths
	P50, P95, P99        uint64        // of the latencies in it, in nanoseconds
	Closed, Open         Course        // of workflows whose users go round, and of those whose iterations are due: never added up
}

// Course is what users and iterations did in an interval.
type Course struct {
	Users                  uint64
	BegunMilli, AskedMilli uint64 // iterations a second, in thousandths; asked of open workflows alone
}

func (c *Course) add(o Course) {
	c.Users, c.BegunMilli, c.AskedMilli = c.Users+o.Users, c.BegunMilli+o.BegunMilli, c.AskedMilli+o.AskedMilli
}

// NewModel starts with the plan's values.
func NewModel(name string, plan *message.Plan) *Model {
	m := &Model{Name: name, watched: len(plan.Workflows) == 0}
	m.promise(plan.Workflows)
	return m
}

// promise takes over the plan: at the start, or from the first status of a watched job.
func (m *Model) promise(plan []message.WorkflowPlan) {
	for i := range plan {
		f := m.flow(plan[i].Name)
		f.promise(&plan[i])
		f.turn.promise(&plan[i], plan)
	}
}

// Apply folds one status in; it says whether figures of a new interval came of it.
// Statuses may come twice and out of order.
func (m *Model) Apply(s *message.JobStatus) bool {
	if m.watched && len(s.Plan) > 0 {
		m.watched = false
		m.promise(s.Plan)
	}
	if m.Stale(s) {
		return false
	}
	m.sequence = s.Sequence
	m.State, m.Reason, m.Position, m.Elapsed = s.State, s.Reason, s.Position, s.Elapsed
	m.sinks = report.SinksOf(s.Sinks.List)
	if m.Name == "" {
		m.Name = s.Name
	}
	m.apply(s)
	sampled, names := false, m.names(s)
	for _, name := range names {
		sampled = m.flow(name).apply(s, name) || sampled
	}
	if sampled && len(m.Points) == 0 {
		m.Points = m.past()
	}
	if sampled {
		m.keep(m.point())
	}
	return sampled
}

// Stale says that a status is older than what the model has. Each gate counts its own sequence: behind a
// take-over it begins again, but the job's age does not.
func (m *Model) Stale(s *message.JobStatus) bool {
	return s.Sequence < m.sequence && s.Elapsed <= m.Elapsed
}

// keep adds a point.
func (m *Model) keep(p Point) {
	before := time.Duration(0)
	if n := len(m.Points); n > 0 {
		before = m.Points[n-1].At
	}
	// An attempt that is lost takes its time with it: the axis never turns back.
	p.At = max(m.clock(), before+1)
	p.Took = p.At - before
	m.Points = append(m.Points, p)
	if len(m.Points) <= pointsMax {
		return
	}
	half := make([]Point, 0, pointsMax)
	for i := 0; i+1 < len(m.Points); i += 2 {
		half = append(half, m.Points[i].join(m.Points[i+1]))
	}
	if len(m.Points)%2 == 1 {
		half = append(half, m.Points[len(m.Points)-1])
	}
	m.Points = half
}

// join merges the intervals of two neighbours: rates become means. Of quantiles the larger one
// stays, so that no slow request disappears.
func (p Point) join(next Point) Point {
	mean := func(a, b uint64) uint64 {
		return uint64((float64(a)*float64(p.Took) + float64(b)*float64(next.Took)) / max(1, float64(p.Took+next.Took)))
	}
	return Point{
		At: next.At, Took: p.Took + next.Took,
		RateMilli: mean(p.RateMilli, next.RateMilli), FailMilli: mean(p.FailMilli, next.FailMilli),
		P50: max(p.P50, next.P50), P95: max(p.P95, next.P95), P99: max(p.P99, next.P99),
		Closed: p.Closed.join(next.Closed, mean), Open: p.Open.join(next.Open, mean),
	}
}

func (c Course) join(next Course, mean func(a, b uint64) uint64) Course {
	return Course{mean(c.Users, next.Users), mean(c.BegunMilli, next.BegunMilli), mean(c.AskedMilli, next.AskedMilli)}
}

// names are the workflows of a status, each once, in order.
func (m *Model) names(s *message.JobStatus) []string {
	var names []string
	for _, d := range s.Datacenters {
		for _, w := range d.Workflows {
			if !slices.Contains(names, w.Name) {
				names = append(names, w.Name)
			}
		}
	}
	return names
}

func (m *Model) flow(name string) *flow {
	for _, f := range m.flows {
		if f.name == name {
			return f
		}
	}
	f := &flow{name: name, interval: new(stats.Histogram), bases: map[string]*message.Stats{}}
	m.flows = append(m.flows, f)
	return f
}
