package checker

import (
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ends judges how clients learn the ends of workflows (T8): after a majority of the gates has each,
// once, in one order, and all of them before the job's result.
type ends struct {
	log    *history.Log
	ended  map[message.JobID][]event.WorkflowEnded
	pushes map[watch]int // the ends that each watch has told
}

// watch is a client's operation "result".
type watch struct {
	client      node.ID
	incarnation uint64
	call        uint64
}

func newEnds(log *history.Log) *ends {
	return &ends{log: log, ended: map[message.JobID][]event.WorkflowEnded{}, pushes: map[watch]int{}}
}

// decided takes the end that a gate says a majority has. A gate that adopts the job tells it again.
func (s *ends) decided(r Record, e event.WorkflowEnded) {
	e.Epoch = 0
	all := s.ended[e.Job]
	switch n := int(e.Number); {
	case n == len(all)+1:
		s.ended[e.Job] = append(all, e)
	case n < 1 || n > len(all):
		s.log.Violate("T8", r, "end %d of a workflow of job %v follows end %d", e.Number, e.Job, len(all))
	case all[n-1] != e:
		s.log.Violate("T8", r, "end %d of a workflow of job %v was %v of workflow %d, and now is %v of workflow %d", e.Number, e.Job, all[n-1].State, all[n-1].Workflow, e.State, e.Workflow)
	}
}

// told takes an end that a client learns.
func (s *ends) told(r Record, e event.ClientTold) {
	w := watch{r.Node, r.Incarnation, e.Call}
	s.pushes[w]++
	all := s.ended[e.Job]
	is := event.WorkflowEnded{Job: e.Job, Number: e.Number, Workflow: e.Workflow, State: e.State, Started: e.Started}
	switch n := int(e.Number); {
	case n != s.pushes[w]:
		s.log.Violate("T8", r, "%s learned end %d of a workflow of job %v as its %d", r.Node, e.Number, e.Job, s.pushes[w])
	case n > len(all):
		s.log.Violate("T8", r, "%s learned that workflow %d of job %v ended %v before a majority of the gates had it", r.Node, e.Workflow, e.Job, e.State)
	case all[n-1] != is:
		s.log.Violate("T8", r, "%s learned that workflow %d of job %v ended %v, and a majority has %v of workflow %d", r.Node, e.Workflow, e.Job, e.State, all[n-1].State, all[n-1].Workflow)
	}
}

// returned judges that a client which gets a job's result has learned all ends.
func (s *ends) returned(r Record, e event.ClientReturned) {
	w := watch{r.Node, r.Incarnation, e.Call}
	if n, all := s.pushes[w], len(s.ended[e.Job]); e.OK && e.What == "result" && n != all {
		s.log.Violate("T8", r, "%s got the result of job %v and learned %d of %d ends of workflows", r.Node, e.Job, n, all)
	}
	delete(s.pushes, w)
}
