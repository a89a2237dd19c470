package worker

import (
	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker/budget"
	"hyperscale/core/worker/cores"
	"hyperscale/core/worker/outbox"
)

// shard is what this worker knows about a shard.
type shard struct {
	id      message.ShardID
	fence   message.Fence // the highest on disk; zero if none is
	current *execution    // under that fence; nil when it is over, also after a restart
	result  *outbox.Item  // under that fence, until its acknowledgement; then there is no current one
	storing *execution    // the worker is writing its higher fence
	leaving int           // superseded executions whose executors are not gone
	since   node.Instant  // when the shard last lost its execution
}

// high is the highest fence seen, on disk or on its way there.
func (s *shard) high() message.Fence {
	if s.storing != nil {
		return s.storing.fence
	}
	return s.fence
}

// idle says that nothing of a shard is left except its fence.
func (s *shard) idle() bool {
	return s.current == nil && s.result == nil && s.storing == nil && s.leaving == 0
}

// phase is the state of an execution.
type phase uint8

const (
	storing phase = iota // the worker is writing its fence
	waiting              // for the executors of an execution that it supersedes
	running              // its executors run
	ending               // the worker has asked its executors to stop
	closed               // it is over
)

// become changes the phase of an execution; no other code does.
func (x *execution) become(to phase) {
	next := [...]uint8{
		storing: 1<<waiting | 1<<closed,
		waiting: 1<<running | 1<<closed,
		running: 1<<ending | 1<<closed,
		ending:  1 << closed,
		closed:  0,
	}
	if next[x.phase]&(1<<to) == 0 {
		node.Bug("shard %v %v: phase %d cannot follow %d", x.shard.id, x.fence, to, x.phase)
	}
	x.phase = to
}

// execution is one shard under one fence on this worker.
type execution struct {
	config   *Config
	number   uint64 // of its timers
	shard    *shard
	fence    message.Fence
	dispatch *message.ShardDispatch // nil if its cancellation came first
	manager  node.ID                // gets its reports: the one that dispatched, cancelled or renewed it last
	until    node.Instant           // when it stops without a renewal; zero for a cancellation
	lapsed   bool                   // no renewal came in time
	phase    phase
	runs     []*run
	received node.Instant // when its dispatch came
	started  node.Instant
	stop     message.WorkflowState // how it shall end; none while it runs
	why      string
	failure  string
	fault    message.Fault // of the failure
	silent   bool          // superseded or given up: it reports no end
	report
}

// report is what its manager has of an execution's figures.
type report struct {
	dirty    bool // there are newer ones
	sequence uint64
	turn     uint64 // of the last report; before the first one, of the start
}

// holder is the execution's identity among the holders of cores.
func (x *execution) holder() cores.Holder { return cores.Holder{Shard: x.shard.id, Number: x.number} }

// executors is how many run: one a core that it asks for, within its users and the machine.
func (x *execution) executors(total int) int {
	return min(int(x.dispatch.Cores), int(min(x.dispatch.VUs, uint64(total))))
}

// run is one executor of an execution.
type run struct {
	id        node.ExecID
	execution *execution
	core      int
	sequence  uint64
	stats     *message.Stats
	asks      []asking
	waits     []gathering
	result    *message.ExecResult
	gone      bool
	watch     health.Watch
	state     health.WatchState // that observers know
	gauge     budget.Gauge
	spent     bool // it is killed for its memory
}
