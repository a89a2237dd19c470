package export

import (
	"time"

	dto "github.com/prometheus/client_model/go"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// loaded is the load of one job as scrapes saw it.
type loaded struct {
	rows   map[rowKey]*row
	gauges []*dto.MetricFamily // as last seen
	grown  growing
	final  bool // it has seen the result
}

// rowKey names a step of a workflow in a datacenter; the workflow itself has no step.
type rowKey struct {
	datacenter, workflow, step string
	kind                       message.StepKind
}

// row is what has labels of its own.
type row struct {
	statuses map[uint32]bool
	kinds    map[string]bool
}

func newLoaded() *loaded {
	return &loaded{rows: map[rowKey]*row{}, grown: growing{series: map[string]*grown{}, lost: map[part]uint64{}}}
}

// see takes the newest figures; room is how many more rows there may be.
func (j *loaded) see(s *message.JobStatus, room int) {
	if j.final {
		return
	}
	j.final = s.State.Terminal() && len(s.Datacenters) > 0 // else its figures are what they were
	top := &collector{base: labels{{"run", s.Job.String()}, {"test", s.Name}}, families: map[string]*dto.MetricFamily{}, taken: map[string]bool{}}
	for state := message.JobNone + 1; state <= message.JobTimedOut; state++ {
		top.value(jobState, truth(state == s.State), label{"state", state.String()})
	}
	top.value(jobDuration, s.Elapsed.Seconds())
	all := top.families
	known := map[string]bool{}
	j.grown.begin()
	for i := range s.Datacenters {
		d := &s.Datacenters[i]
		flows := j.admitted(d, &room)
		r, err := report.Build(&message.Result{Job: s.Job, Name: s.Name, State: s.State, Workflows: flows}, time.Time{})
		if err != nil || len(flows) == 0 {
			continue // its counters stay what they were
		}
		c := &collector{base: append(top.base[:2:2], label{"datacenter", d.Name}), families: all, taken: top.taken}
		for k := range r.Workflows {
			w := &r.Workflows[k]
			c.load(w, flows[k].Stats.Active, j.rows[rowKey{d.Name, w.Name, "", message.StepNone}] != nil)
			known[d.Name] = known[d.Name] || len(flows[k].Stats.Steps) > 0
		}
		j.grown.lose(d)
	}
	j.gauges = j.grown.take(all)
	if j.final && len(known) > 0 {
		j.grown.settle(func(datacenter string) bool {
			for i := range s.Datacenters {
				if s.Datacenters[i].Name == datacenter {
					return known[datacenter] // else its steps are left out for size
				}
			}
			return true // no result counts it
		})
	}
}

// load writes what a gate shows of a workflow: what adds up, and the verdict on the generator.
func (c *collector) load(w *report.Workflow, now uint64, own bool) {
	of := label{"workflow", w.Name}
	if own {
		c.generator(of, w, now)
	}
	for i := range w.Steps {
		c.counts(labels{of, {"step", w.Steps[i].Name}}, &w.Steps[i])
	}
	for i := range w.Requests {
		c.counts(requestOf(of, w.Requests[i].Name), &w.Requests[i])
	}
	for i := range w.Beside {
		c.counts(requestOf(of, w.Beside[i].Name), &w.Beside[i])
	}
}

// write adds the job's metrics.
func (j *loaded) write(to map[string]*dto.MetricFamily) {
	for _, f := range j.gauges {
		join(to, f, f.Metric...)
	}
	j.grown.write(to)
}

func join(to map[string]*dto.MetricFamily, f *dto.MetricFamily, more ...*dto.Metric) {
	all := to[f.GetName()]
	if all == nil {
		all = &dto.MetricFamily{Name: f.Name, Help: f.Help, Type: f.Type}
		to[f.GetName()] = all
	}
	all.Metric = append(all.Metric, more...)
}

// admitted returns the workflows of a datacenter with the steps that have rows. The others are steps of
// workflow other, which comes last.
func (j *loaded) admitted(d *message.DatacenterResult, room *int) (flows []message.WorkflowResult) {
	var rest stats.Total
	folded := false
	for i := range d.Workflows {
		w := d.Workflows[i]
		j.row(rowKey{d.Name, w.Name, "", message.StepNone}, room)
		w.Stats.Steps, w.Stats.Activity, w.Stats.Spans, w.Stats.Logs = nil, message.Windows{}, nil, nil
		for _, s := range d.Workflows[i].Stats.Steps {
			if s.Kind == message.StepCheck || s.Kind == message.StepAction || s.Kind == message.StepMetric {
				continue
			}
			s.Windows, s.Phases, s.Service, s.Metric, s.Measures = message.Windows{}, nil, message.Histogram{}, message.Histogram{}, message.Measures{}
			if r := j.row(rowKey{d.Name, w.Name, s.Name, s.Kind}, room); r != nil {
				w.Stats.Steps = append(w.Stats.Steps, r.fold(s))
				continue
			}
			folded = true
			if s.Name = other; s.Kind == message.StepPart || s.Kind == message.StepBeside {
				s.Name, s.Kind = other+"/"+other, message.StepPart
			} else {
				s.Kind = message.StepRequest
			}
			_ = rest.Add(&message.Stats{Steps: []message.StepStats{s}}) // a figure that cannot be read counts nowhere
		}
		flows = append(flows, w)
	}
	if !folded {
		return flows
	}
	sum := rest.Stats()
	for i := range sum.Steps {
		sum.Steps[i] = j.folded(d.Name, &sum.Steps[i]).fold(sum.Steps[i])
	}
	return append(flows, message.WorkflowResult{Name: other, State: message.WorkflowRunning, Stats: sum})
}

// other names what has no row of its own.
const other = "other"

// row returns the row of a key; nil: it has none, as there is no room.
func (j *loaded) row(k rowKey, room *int) *row {
	if r := j.rows[k]; r != nil {
		return r
	}
	mine := 0
	for o := range j.rows {
		if o.datacenter == k.datacenter {
			mine++
		}
	}
	if *room <= 0 || mine >= loadSteps {
		return nil
	}
	*room--
	j.rows[k] = newRow()
	return j.rows[k]
}

// folded returns the row of a step other, for which there is always room.
func (j *loaded) folded(datacenter string, s *message.StepStats) *row {
	k := rowKey{datacenter, other, s.Name, s.Kind}
	if j.rows[k] == nil {
		j.rows[k] = newRow()
	}
	return j.rows[k]
}

func newRow() *row { return &row{statuses: map[uint32]bool{}, kinds: map[string]bool{}} }

// fold counts the statuses and the kinds of errors beyond the bound as other. What once had a series of
// its own keeps it.
func (r *row) fold(s message.StepStats) message.StepStats {
	statuses, errors := s.Statuses, s.Errors
	s.Statuses, s.Errors = nil, nil
	var more message.StatusCount
	for _, n := range statuses {
		if keeps(r.statuses, n.Status) {
			s.Statuses = append(s.Statuses, n)
		} else {
			more.Count += n.Count
		}
	}
	if more.Count > 0 {
		s.Statuses = append(s.Statuses, more)
	}
	failures := message.ErrorCount{Kind: stats.KindOther}
	for _, n := range errors {
		if n.Kind != stats.KindOther && keeps(r.kinds, n.Kind) {
			s.Errors = append(s.Errors, n)
		} else {
			failures.Count += n.Count
		}
	}
	if failures.Count > 0 {
		s.Errors = append(s.Errors, failures)
	}
	return s
}

func keeps[K comparable](known map[K]bool, k K) bool {
	var zero K // stats.StatusOther is other already
	if k != zero && !known[k] && len(known) < loadVariants {
		known[k] = true
	}
	return known[k]
}
