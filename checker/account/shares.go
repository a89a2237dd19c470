package account

import (
	"hyperscale/checker/history"
	"hyperscale/core/message"
)

// Told judges what a gate reports to a client of a job's subjobs, running or ended: a subjob's
// work is the sum of its workers' work (T8). If the frame had no room for steps or workers,
// there is nothing to judge.
func (j *Judge) Told(r history.Record, job message.JobID, subjobs []message.DatacenterResult) {
	for i := range subjobs {
		d := &subjobs[i]
		var steps, shares work
		known := false
		for k := range d.Workflows {
			for _, s := range d.Workflows[k].Stats.Steps {
				known = true
				if s.Kind.Measured() {
					steps = steps.and(work{s.Started, s.OK, s.Failed + s.TimedOut + s.Cancelled})
				}
			}
		}
		for k := range d.Workers {
			w := &d.Workers[k]
			shares = shares.and(work{w.Started, w.OK, w.Failed + w.TimedOut + w.Cancelled})
		}
		if known && len(d.Workers) > 0 && shares != steps {
			j.log.Violate("T8", r, "of subjob %s of job %v, %v, its workers tell %+v, its steps %+v", d.Name, job, d.State, shares, steps)
		}
	}
}

// work is what Told compares.
type work struct{ Started, OK, Other uint64 }

func (w work) and(o work) work { return work{w.Started + o.Started, w.OK + o.OK, w.Other + o.Other} }
