package operation

import (
	"hyperscale/checker/history"
	"hyperscale/checker/linear"
	"hyperscale/core/event"
	"hyperscale/core/message"
)

// register names a lease register.
type register struct {
	group string
	job   message.JobID
}

// LeaseCalled takes the call of an operation on a register.
func (j *Judge) LeaseCalled(r history.Record, e event.LeaseCalled) {
	switch e.What {
	case "acquire", "update", "release", "read":
	case "read-held": // by the holder, alone: nothing but its window makes it good
		if j.nodes.Assume.DriftBeyondBound {
			return
		}
	default:
		j.log.Violate(history.Undecided, r, "%s called %q of the register of job %v: T4 knows no such operation", r.Node, e.What, e.Job)
		return
	}
	key := register{e.Group, e.Job}
	object := j.leases.byKey[key]
	if object == nil {
		object = j.leases.add(key, e.Group+"/"+e.Job.String())
	}
	if e.What == "acquire" { // it hears no more of what it asked for under lower tokens
		j.abandon(r.Node, func(x *call) bool { return x.lease == object && x.what != "read" })
	}
	x := call{seq: j.next(), from: where(r), lease: object, what: e.What}
	op := linear.RegisterOp{What: e.What, Token: e.Token, Value: e.Value}
	if e.What == "acquire" {
		op.Seed = e.Value
	}
	x.index = object.Call(x.seq, x.from, op)
	j.begin(r.Node, name{number: e.Call}, x)
}

// LeaseReturned takes the return of one. It ignores the return of an operation whose
// call the history does not have.
func (j *Judge) LeaseReturned(r history.Record, e event.LeaseReturned) {
	x, ok := j.finish(r.Node, name{number: e.Call})
	if !ok {
		return
	}
	if !e.OK {
		j.fails(x.lease.Drop(x.index))
		return
	}
	op, ok := x.lease.Called(x.index)
	if !ok {
		return
	}
	if op.What != "update" && op.What != "release" {
		op.Token, op.Value = e.Token, e.Value
	}
	j.fails(x.lease.Return(x.index, j.next(), where(r), op))
}
