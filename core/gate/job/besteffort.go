package job

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Effort decides when a job ends without some of its datacenters, and without which.
type Effort struct{ j *Job }

// EffortOf returns the best effort of a job.
func EffortOf(j *Job) Effort { return Effort{j} }

// Wanted says that the job may end without some of its datacenters. A job that is stopped may not: all that
// they did is shown.
func (e Effort) Wanted() bool {
	j := e.j
	return j.Spec != nil && j.Spec.BestEffort.Least > 0 && !j.Stopping() && j.State != message.JobCancelled
}

// Satisfied says that as many datacenters have completed as the job wants.
func (e Effort) Satisfied() bool {
	if !e.Wanted() {
		return false
	}
	n := uint32(0)
	for _, p := range e.j.Subjobs {
		if p.Phase == Done && p.Result != nil && p.Result.State == message.JobCompleted {
			n++
		}
	}
	return n >= e.j.Spec.BestEffort.Least
}

// EndsAt is when best effort ends the job, as enough of its datacenters have completed. ok is false while
// too few have, and for a job that waits for all.
func (e Effort) EndsAt() (at node.Instant, ok bool) {
	if !e.Satisfied() || e.j.Done() || e.j.State.Terminal() {
		return 0, false
	}
	return e.j.Started.Add(e.j.Spec.BestEffort.After), true
}

// left says that the job may end without the subjob: the cluster ended it, or best effort did.
func (p *Subjob) left() bool {
	return p.Phase == Done && p.End == Unheard && p.Result != nil && (p.Result.State == message.JobCancelled || p.Fault.Cluster())
}

// Bare drops what a subjob reported that ended without its result: with best effort it counts nowhere,
// whether its datacenter is late or lost.
func (e Effort) Bare(p *Subjob) {
	if e.Wanted() && p.left() {
		p.Result = &message.DatacenterResult{Name: p.Datacenter, State: p.Result.State, Error: p.Result.Error, Duration: p.Result.Duration}
	}
}

// heard lists the subjobs that the job's end follows from: all, or, once enough have completed, those
// that the job does not leave out.
func (e Effort) heard() []*Subjob {
	if !e.Satisfied() {
		return e.j.Subjobs
	}
	return slices.DeleteFunc(slices.Clone(e.j.Subjobs), (*Subjob).left)
}

// missing names the datacenters that the job left out.
func (e Effort) missing() (names []string) {
	if !e.Satisfied() {
		return nil
	}
	for _, p := range e.j.Subjobs {
		if p.left() {
			names = append(names, p.Datacenter)
		}
	}
	return names
}
