package account

import (
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// flow is a workflow of a subjob.
type flow struct {
	manager  node.ID
	job      message.JobID
	held     uint64 // the manager's epoch of the subjob
	workflow uint32
}

// course is the history of a workflow of a subjob, in the order of dispatches and counts.
type course struct {
	began   uint64 // number of its first dispatch
	counted uint64 // number of its last count
	failed  bool   // one shard had not completed
}

func (j *Judge) course(f flow) *course {
	x := j.courses[f]
	if x == nil {
		x = &course{}
		j.courses[f] = x
	}
	return x
}

// WorkflowChanged judges L of a workflow of a subjob.
func (j *Judge) WorkflowChanged(r history.Record, e event.WorkflowChanged) {
	key := flow{r.Node, e.Job, e.Fence.SubjobEpoch, e.Workflow}
	if last := j.flows[key]; last.Terminal() {
		j.log.Violate("L", r, "workflow %d of job %v had ended %v and became %v", e.Workflow, e.Job, last, e.To)
		return
	}
	if !lifecycle.LegalWorkflow(e.From, e.To) {
		j.log.Violate("L", r, "workflow %d of job %v went from %v to %v", e.Workflow, e.Job, e.From, e.To)
	}
	j.flows[key] = e.To
}

// Depends judges T7 of a job whose plan has such a dependency. Wherever the workflow began, its
// manager had counted what it depends on, and that had completed.
func (j *Judge) Depends(r history.Record, job message.JobID, workflow, on uint32) {
	//lint:orderfree at most one violation is kept of a job
	for f, x := range j.courses {
		if f.job == job && f.workflow == workflow && x.began != 0 && !j.completed(f, x.began, on) {
			j.log.Violate("T7", r, "workflow %d of job %v was begun, though workflow %d, on which it depends, had not completed", workflow, job, on)
			return
		}
	}
}

// completed reports whether a workflow had completed when one of f began. It uses the counts of
// f's manager and of earlier managers of the subjob.
func (j *Judge) completed(f flow, began uint64, on uint32) bool {
	done := false
	//lint:orderfree all of them are looked at
	for g, y := range j.courses {
		same := g.manager == f.manager && g.held == f.held
		before := g.held < f.held && j.places[g.manager] == j.places[f.manager]
		switch {
		case g.job != f.job || g.workflow != on || !same && !before:
		case y.counted != 0 && y.counted <= began && !y.failed && !ended(j.flows[g]):
			done = true
		case same:
			return false
		}
	}
	return done
}

// ended reports that a workflow ended without completing.
func ended(s message.WorkflowState) bool { return s.Terminal() && s != message.WorkflowCompleted }
