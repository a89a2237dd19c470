package operation

import (
	"hyperscale/checker/history"
	"hyperscale/checker/linear"
	"hyperscale/core/event"
	"hyperscale/core/message"
)

// jobCalls returns the object of a job as clients see it.
func (j *Judge) jobCalls(id message.JobID) *jobCalls {
	if object := j.jobs.byKey[id]; object != nil {
		return object
	}
	return j.jobs.add(id, id.String())
}

// ClientCalled takes the call of a client's operation.
func (j *Judge) ClientCalled(r history.Record, e event.ClientCalled) {
	switch e.What {
	case "submit", "status", "cancel", "result":
	default:
		j.log.Violate(history.Undecided, r, "%s called %q of job %v: T4 knows no such operation", r.Node, e.What, e.Job)
		return
	}
	x := call{seq: j.next(), from: where(r), op: linear.JobOp{What: e.What, Payload: e.Payload}}
	if e.Job != (message.JobID{}) {
		x.job = j.jobCalls(e.Job)
		x.index = x.job.Call(x.seq, x.from, x.op)
	}
	j.begin(r.Node, name{true, e.Call}, x)
}

// ClientReturned takes the return of one.
func (j *Judge) ClientReturned(r history.Record, e event.ClientReturned) {
	x, ok := j.finish(r.Node, name{true, e.Call})
	if !ok {
		return
	}
	if x.job == nil {
		if e.Job == (message.JobID{}) {
			return // rejected, and never named
		}
		x.job = j.jobCalls(e.Job)
		x.index = x.job.Call(x.seq, x.from, x.op)
	}
	if !e.OK && !tells(x.op.What, e.Code) {
		j.fails(x.job.Drop(x.index))
		return
	}
	x.op.State, x.op.Result = e.State, e.Result
	if !e.OK {
		x.op.Refused = e.Code
	}
	j.fails(x.job.Return(x.index, j.next(), where(r), x.op))
}

// tells says that a refusal tells something of the job itself, not just of the gate
// that the client asked.
func tells(what string, code message.Code) bool {
	if what == "submit" {
		return code == message.CodeKeyMismatch
	}
	return code == message.CodeUnknownJob
}
