package operation

import (
	"cmp"
	"maps"
	"slices"

	"hyperscale/checker/history"
	"hyperscale/checker/linear"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

type (
	leaseCalls  = linear.Partition[linear.Register, linear.RegisterOp]
	jobCalls    = linear.Partition[linear.Job, linear.JobOp]
	fencedCalls = linear.Partition[linear.Fenced, linear.FencedOp]
)

// Judge collects the operations of one history.
type Judge struct {
	nodes     *history.Nodes
	log       *history.Log
	open      map[node.ID]map[name]call // operations that have not returned
	leases    objects[register, linear.Register, linear.RegisterOp]
	jobs      objects[message.JobID, linear.Job, linear.JobOp]
	receivers objects[Receiver, linear.Fenced, linear.FencedOp]
	seq       uint64 // of the last call or return
	settled   bool
}

// objects are all objects of one kind.
type objects[K, S comparable, O any] struct {
	model *linear.Model[S, O]
	byKey map[K]*linear.Partition[S, O]
	all   []*linear.Partition[S, O] // in the order of their first calls
}

func newObjects[K, S comparable, O any](m *linear.Model[S, O]) objects[K, S, O] {
	return objects[K, S, O]{model: m, byKey: map[K]*linear.Partition[S, O]{}}
}

// add makes the object of a key.
func (o *objects[K, S, O]) add(key K, label string) *linear.Partition[S, O] {
	p := linear.NewPartition(o.model, label)
	o.byKey[key] = p
	o.all = append(o.all, p)
	return p
}

// New returns a judge of an empty history.
func New(nodes *history.Nodes, log *history.Log) *Judge {
	return &Judge{
		nodes: nodes, log: log, open: map[node.ID]map[name]call{},
		leases:    newObjects[register](linear.LeaseRegister()),
		jobs:      newObjects[message.JobID](linear.JobAPI()),
		receivers: newObjects[Receiver](linear.FencedRegister()),
	}
}

// name names an operation within an incarnation.
type name struct {
	client bool
	number uint64
}

// call is one that has not returned.
type call struct {
	seq   uint64
	from  linear.Where
	lease *leaseCalls
	job   *jobCalls // nil until the job of a submit without a key is known
	index int
	what  string
	op    linear.JobOp // of a client
}

func where(r history.Record) linear.Where {
	return linear.Where{At: r.At, Node: r.Node, Incarnation: r.Incarnation}
}

// next counts calls and returns.
func (j *Judge) next() uint64 {
	j.seq++
	return j.seq
}

// begin keeps a call until it returns.
func (j *Judge) begin(id node.ID, key name, x call) {
	calls := j.open[id]
	if calls == nil {
		calls = map[name]call{}
		j.open[id] = calls
	}
	calls[key] = x
}

// finish returns a call and forgets it.
func (j *Judge) finish(id node.ID, key name) (call, bool) {
	x, ok := j.open[id][key]
	if ok {
		delete(j.open[id], key)
	}
	return x, ok
}

// Over ends the calls of an incarnation that is over: none of them returns.
func (j *Judge) Over(id node.ID) {
	j.abandon(id, func(*call) bool { return true })
}

// abandon ends calls that never return, in the order in which they began.
func (j *Judge) abandon(id node.ID, never func(x *call) bool) {
	calls := j.open[id]
	if len(calls) == 0 {
		return
	}
	var over []name
	//lint:orderfree they are sorted below
	for key, x := range calls {
		if never(&x) {
			over = append(over, key)
		}
	}
	slices.SortFunc(over, func(a, b name) int { return cmp.Compare(calls[a].seq, calls[b].seq) })
	for _, key := range over {
		switch x := calls[key]; {
		case x.lease != nil:
			j.fails(x.lease.Abandon(x.index))
		case x.job != nil:
			j.fails(x.job.Abandon(x.index))
		}
		delete(calls, key)
	}
}

// Forget notes that a node has lost its disk: as a receiver it begins anew.
func (j *Judge) Forget(id node.ID) {
	maps.DeleteFunc(j.receivers.byKey, func(r Receiver, _ *fencedCalls) bool { return r.Node == id })
}

// Settle judges what is left, once: what is open then never returns.
func (j *Judge) Settle() {
	if j.settled {
		return
	}
	j.settled = true
	for _, id := range slices.Sorted(maps.Keys(j.open)) {
		j.Over(id)
	}
	settle(j, j.leases.all)
	settle(j, j.jobs.all)
	settle(j, j.receivers.all)
}

func settle[S comparable, O any](j *Judge, all []*linear.Partition[S, O]) {
	for _, p := range all {
		j.fails(p.Finish())
	}
}

// fails turns what linear found into a violation.
func (j *Judge) fails(f *linear.Failure) {
	if f != nil {
		v := violation(f)
		j.log.Violate(v.Invariant, history.Record{At: v.At, Node: v.Node, Incarnation: f.At.Incarnation}, "%s", v.Detail)
	}
}
