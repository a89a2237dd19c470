package worker

import (
	"maps"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

// Machine is a worker.
type Machine struct {
	config      Config
	links       *uplink.Links
	group       *swim.Group
	rhythms     map[*uplink.Link]*rhythm // of the streams that stand
	cores       []*execution             // who holds each core, from its reservation on
	shards      map[message.ShardID]*shard
	active      map[uint64]*execution // from reservation until its last executor is gone, by number
	outbox      []*execution          // ended, not acknowledged, oldest first
	closed      []closing             // fences without an execution, oldest first
	runs        map[node.ExecID]*run
	writes      map[node.Token]write
	refused     map[message.ShardID]message.Fence // the highest dispatch of each that was not taken
	refusals    []message.ShardID                 // of the same, the oldest first
	draining    bool                              // asked by an operator: nothing new is taken
	drainUnkept bool                              // and the disk did not take that
	stopping    bool                              // it ends when nothing is left to do
	pushing     bool                              // the timer of progress is set
	givenUp     bool                              // the stop does not wait for ends any more

	executions uint64
	exec       node.ExecID
	token      node.Token
}

// shard is what is known of a shard, whoever ran it here.
type shard struct {
	id      message.ShardID
	fence   message.Fence // the highest on disk; zero when none is
	current *execution    // under that fence; nil when it is over and told, or died with a former incarnation
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

// phase is where an execution stands.
type phase uint8

const (
	storing phase = iota // its fence is being written
	waiting              // for the executors of an execution that it supersedes
	running              // its executors run
	ending               // its executors were asked to stop
	ended                // they are gone; the result waits for its acknowledgement
	closed               // nobody waits for anything of it
)

// become moves an execution on; nothing but this writes a phase.
func (x *execution) become(to phase) {
	next := [...]uint8{
		storing: 1<<waiting | 1<<closed,
		waiting: 1<<running | 1<<ended | 1<<closed,
		running: 1<<ending | 1<<ended | 1<<closed,
		ending:  1<<ended | 1<<closed,
		ended:   1 << closed,
		closed:  0,
	}
	if next[x.phase]&(1<<to) == 0 {
		node.Bug("shard %v %v: phase %d cannot follow %d", x.shard.id, x.fence, to, x.phase)
	}
	x.phase = to
}

// execution is one shard under one fence on this worker.
type execution struct {
	number   uint64 // of its timers
	shard    *shard
	fence    message.Fence
	dispatch *message.ShardDispatch // nil when its cancellation came first
	manager  node.ID                // who is told: who dispatched, cancelled or renewed it last
	until    node.Instant           // nothing runs from then on unless renewed; zero for a cancellation
	lapsed   bool                   // it was not
	phase    phase
	cores    []int
	owed     int // cores it still gets from those that it supersedes
	runs     []*run
	started  node.Instant
	stop     message.WorkflowState // what it was asked to become; none if nobody asked
	why      string
	failure  string
	silent   bool // superseded or given up: its end is nobody's business
	dirty    bool // moved since the last progress
	sequence uint64
	result   *message.ShardResult
	writing  bool // the result is on its way to the disk
	recorded bool // it is there
	tries    int  // sends of the result to that manager, by the timer
	ended    node.Instant
}

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

// New returns a worker. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("worker: %v", err)
	}
	m := &Machine{
		config:  c,
		cores:   make([]*execution, c.Cores),
		shards:  map[message.ShardID]*shard{},
		active:  map[uint64]*execution{},
		runs:    map[node.ExecID]*run{},
		writes:  map[node.Token]write{},
		refused: map[message.ShardID]message.Fence{},
		links: uplink.New(uplink.Config{
			Group: uint64(node.RoleManager), Role: node.RoleManager, Datacenter: c.Datacenter, Remedy: "--managers or --seed",
			Silence: c.Silence, ReconnectMin: c.ReconnectMin, ReconnectMax: c.ReconnectMax,
		}, c.Managers),
		group:   newGroup(c),
		rhythms: map[*uplink.Link]*rhythm{},
	}
	return m
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.onStart(env)
	case node.InputMessage:
		m.onMessage(env, in)
	case node.InputStreamOpened:
		m.onOpened(env, in)
	case node.InputStreamBroken:
		if !m.group.Broken(env, in) {
			m.links.Broken(env, in)
		}
	case node.InputTimer:
		m.onTimer(env, in.Timer)
	case node.InputStored:
		m.onStored(env, in.Token, in.Err)
	case node.InputExec:
		m.onExec(env, &in.Exec)
	case node.InputStop:
		m.onStop(env)
	case node.InputCommand:
		env.Answer(in.Command, &message.Refused{Request: message.RequestID{Incarnation: env.Self().Incarnation, Counter: uint64(in.Command)}, Code: message.CodeNotOwner, Detail: "a worker takes no commands: ask a gate"})
	}
	m.announce()
}

func (m *Machine) onStart(env node.Env) {
	if !m.load(env) {
		return
	}
	m.announce()
	m.group.Start(env)
	m.links.Start(env)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerHeartbeat), m.config.Heartbeat)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerRetry), m.config.ResultRetry)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerSweep), m.config.SweepInterval)
}

func (m *Machine) onMessage(env node.Env, in *node.Input) {
	if m.group.Receive(env, in) {
		return
	}
	l := m.links.Of(in.Stream)
	if l == nil {
		ignored(env, in, "it came on no stream of a manager")
		return
	}
	switch msg := in.Message.(type) {
	case *message.HeartbeatAck:
		m.onHeartbeatAck(env, l, msg)
	case *message.ShardDispatch:
		m.onDispatch(env, l, msg)
	case *message.ShardRowsLeased:
		m.onRowsLeased(env, msg)
	case *message.ShardCancel:
		m.onCancel(env, l, msg)
	case *message.ShardResultAck:
		m.onResultAck(env, msg)
	case *message.Drain:
		m.onDrain(env, in, msg)
	default:
		ignored(env, in, "a worker has no use for it")
	}
}

func (m *Machine) onTimer(env node.Env, k node.TimerKey) {
	if m.links.Fire(env, k) || m.group.Fire(env, k) {
		return
	}
	switch k.Kind {
	case node.WorkerHeartbeat:
		m.onHeartbeat(env)
	case node.WorkerRenewal:
		m.lapse(env, m.active[k.N()])
	case node.WorkerShard:
		m.onRunTimeout(env, m.active[k.N()])
	case node.WorkerKill:
		m.onKill(env, m.active[k.N()])
	case node.WorkerPush:
		m.onPush(env)
	case node.WorkerRetry:
		m.onRetry(env)
	case node.WorkerSweep:
		m.onSweep(env)
	case node.WorkerDrain:
		m.onDrained(env)
	}
}

func ignored(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

// ordered returns the executions that hold or await cores, oldest first.
func (m *Machine) ordered() []*execution {
	if len(m.active) == 0 {
		return nil
	}
	all := make([]*execution, 0, len(m.active))
	for _, n := range slices.Sorted(maps.Keys(m.active)) {
		all = append(all, m.active[n])
	}
	return all
}
