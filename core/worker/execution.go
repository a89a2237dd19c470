package worker

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker/cores"
	"hyperscale/core/worker/outbox"
)

// shard is what this worker knows of a shard.
type shard struct {
	id      message.ShardID
	fence   message.Fence // the highest on disk; zero when none is
	current *execution    // under that fence; nil when it is over, or died with a former incarnation
	result  *outbox.Item  // under that fence, until it is acknowledged; then there is no current one
	storing *execution    // whose higher fence is being written
	leaving int           // superseded executions whose executors are not gone
	since   node.Instant  // without an execution
}

// high is the highest fence seen, on disk or on its way there.
func (s *shard) high() message.Fence {
	if s.storing != nil {
		return s.storing.fence
	}
	return s.fence
}

// idle says that nothing of a shard is left but its fence.
func (s *shard) idle() bool {
	return s.current == nil && s.result == nil && s.storing == nil && s.leaving == 0
}

// phase is where an execution stands.
type phase uint8

const (
	storing phase = iota // its fence is being written
	waiting              // for the executors of an execution that it supersedes
	running              // its executors run
	ending               // its executors were asked to stop
	closed               // it is over
)

// become moves an execution on; nothing but this writes a phase.
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
	dispatch *message.ShardDispatch // nil when its cancellation came first
	manager  node.ID                // that gets its reports: it dispatched, cancelled or renewed it last
	until    node.Instant           // nothing runs from then on unless renewed; zero for a cancellation
	lapsed   bool                   // it was not
	phase    phase
	runs     []*run
	started  node.Instant
	stop     message.WorkflowState // what it is to become; none while it goes on
	why      string
	failure  string
	silent   bool // superseded or given up: it reports no end
	dirty    bool // moved since the last progress
	sequence uint64
}

// holder is what an execution is among the cores.
func (x *execution) holder() cores.Holder { return cores.Holder{Shard: x.shard.id, Number: x.number} }

// run is one executor of an execution.
type run struct {
	id        node.ExecID
	execution *execution
	core      int
	sequence  uint64
	stats     *message.Stats
	asks      *message.ExecRows // for rows; nil when it has its answer
	asked     node.Instant
	result    *message.ExecResult
	gone      bool
}
