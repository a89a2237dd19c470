package manager

import (
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/health"
	"hyperscale/core/lease"
	"hyperscale/core/manager/roster"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

// Machine is a manager.
type Machine struct {
	config   Config
	members  []node.Addr // the managers of the datacenter
	gates    *uplink.Links
	fellows  *uplink.Links
	leases   *lease.Registers
	files    *archive.Archive
	swim     *swim.Group
	election *election.Election
	monitor  *health.Monitor
	clocks   *health.Clocks
	lag      time.Duration // as the membership was told last

	sent     map[node.StreamID]*beats  // heartbeats to each gate
	roster   *roster.Roster            // of workers
	subjobs  map[message.JobID]*subjob // whose register this manager holds
	order    []*subjob                 // of subjobs, oldest first
	claims   map[message.JobID]*claim  // orders of a gate that wait for the register
	ended    map[message.JobID]node.Instant
	gone     map[message.JobID]node.Instant // that a majority knows nothing of any more
	reads    map[uint64]func(node.Env, *lease.Outcome)
	fetches  map[uint64]func(node.Env, *archive.Outcome)
	keeps    map[uint64]func(node.Env, error)
	changed  []*subjob // whose record is to be written
	draining bool      // no new subjob is taken
	operator operator
	stopping bool // and this node ends when it holds none
	pushing  bool // the timer of progress is set
	nextTry  node.Instant

	token  node.Token // of the last write of its own
	ticket uint64
}

// subjob is one job's share of this datacenter, while this manager holds it.
type subjob struct {
	job      message.JobID
	fence    message.Fence // attempt 0
	epoch    uint64        // of the job: the highest heard, on its way to a majority if above the fence's
	gate     node.Addr     // who is told
	granted  node.Instant
	deadline node.Instant // until when the gate's word counts; zero before the first

	dispatch   *message.JobDispatch
	file       message.FileDigest // of the dispatch
	digest     uint64             // of its plan
	runTimeout time.Duration      // from accepted on
	missing    int                // files of it that are being fetched
	orders     *claim             // that came while its record is fetched: nothing may be recorded in its place
	state      message.JobState
	asked      message.JobState // what it is to end as, once it is to: CANCELLED, TIMED_OUT, or FAILED when cut off
	stop       message.JobState // the same once a majority has it
	stopping   bool             // it is on its way there
	why        string
	workflows  []*workflow
	accepted   node.Instant
	sequence   uint64
	dirty      bool

	result   *message.SubjobResult
	kept     message.FileDigest // of the result
	writing  bool               // the result is on its way to a majority
	recorded bool               // it is there
	acked    bool
	finished node.Instant
	told     node.Instant
	tries    int // of telling

	redirected bool // it was told at once where a gate had said, since the last time by itself

	changed bool // the record is to be written
	spill   bool // it is on its way as a file
	waits   []wait
}

// wait is what follows once a majority has the record of a ticket.
type wait struct {
	ticket uint64 // 0 until it is sent
	then   func(node.Env)
}

// workflow is one workflow of a subjob.
type workflow struct {
	subjob   *subjob
	index    uint32
	plan     *message.WorkflowPlan
	state    message.WorkflowState
	end      message.WorkflowState // how it ends, before a majority has it
	failure  string
	abort    string // by a condition of its own, before a majority has that as its failure
	waits    string // what for, while it has no cores
	shards   []*shard
	cut      bool               // how it is cut is on a majority
	provided []message.Provided // by the workflows before it; nil until it is dispatched
	ready    node.Instant       // when all it depends on had ended; zero before
	started  node.Instant
	ended    node.Instant
	stats    message.Stats // of one that has ended
	leased   uint64        // rows of its feed, in all
	burned   uint64        // of those, what attempts held that were lost
}

// shard is the unit of dispatch.
type shard struct {
	workflow   *workflow
	id         message.ShardID
	fence      message.Fence // under which it was dispatched last, here or by a former holder
	floor      message.Fence // given up: what is not above is stale
	vus, first uint64
	cores      uint32
	state      message.WorkflowState
	attempt    uint64 // under the subjob's present manager epoch
	worker     node.ID
	written    bool // the dispatch may be sent
	open       bool // a former holder may have dispatched it: who reports it is adopted, until notBefore
	dispatches int
	reruns     int
	failed     []node.ID // workers that lost or refused it
	notBefore  node.Instant
	told       node.StreamID // whose heartbeats have listed it: a later one that does not, says that it stopped
	renewed    node.Instant  // when a worker was last told that it may go on
	sent       node.Instant
	accepted   node.Instant
	denials    int
	progress   *message.ShardProgress
	counting   bool // its result is on its way to a majority
	kept       *kept
	result     *message.ShardResult
	why        string                // of an end without a result
	end        message.WorkflowState // how it is to end without one; none while it goes on
	losing     bool                  // its attempt is being given up
	lost       []message.LostAttempt
	leased     uint64             // rows of the feed, under the current attempt
	rows       map[uint32]*leased // the newest of them, by core
}

// kept is what a record holds of a shard's result.
type kept struct {
	file    message.FileDigest
	state   message.WorkflowState
	started uint64
	why     string
}

// live says that a worker has, or may have, the current attempt.
func (s *shard) live() bool {
	return s.end == message.WorkflowNone && !s.losing && (s.state == message.WorkflowAssigned || s.state == message.WorkflowRunning)
}

// New returns a manager. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("manager: %v", err)
	}
	return &Machine{
		config:  c,
		sent:    map[node.StreamID]*beats{},
		roster:  roster.New(),
		subjobs: map[message.JobID]*subjob{},
		claims:  map[message.JobID]*claim{},
		ended:   map[message.JobID]node.Instant{},
		gone:    map[message.JobID]node.Instant{},
		reads:   map[uint64]func(node.Env, *lease.Outcome){},
		fetches: map[uint64]func(node.Env, *archive.Outcome){},
		keeps:   map[uint64]func(node.Env, error){},
	}
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
		m.onBroken(env, in)
	case node.InputTimer:
		m.onTimer(env, in.Timer)
	case node.InputStored:
		m.onStored(env, in)
	case node.InputStop:
		m.onStop(env)
	case node.InputCommand:
		env.Answer(in.Command, &message.Refused{Request: message.RequestID{Incarnation: env.Self().Incarnation, Counter: uint64(in.Command)}, Code: message.CodeNotOwner, Detail: "a manager takes no commands: ask a gate"})
	}
	m.settle(env)
}

func (m *Machine) onMessage(env node.Env, in *node.Input) {
	if m.onGroupMessage(env, in) {
		return
	}
	if l := m.gates.Of(in.Stream); l != nil {
		m.onGateMessage(env, l, in)
		return
	}
	if w, ok := m.roster.On(in.Stream); ok {
		m.onWorkerMessage(env, in, w)
		return
	}
	ignored(env, in, "it came on no stream of a gate or a worker")
}

func (m *Machine) onGateMessage(env node.Env, l *uplink.Link, in *node.Input) {
	switch msg := in.Message.(type) {
	case *message.HeartbeatAck:
		m.onHeartbeatAck(env, l, msg)
	case *message.JobDispatch:
		m.onJobDispatch(env, l, msg)
	case *message.SubjobCancel:
		m.onSubjobCancel(env, l, msg)
	case *message.SubjobAbort:
		m.onSubjobAbort(env, l, msg)
	case *message.SubjobResultAck:
		m.onSubjobResultAck(env, l, msg)
	default:
		ignored(env, in, "a manager has no use for it from a gate")
	}
}

func (m *Machine) onWorkerMessage(env node.Env, in *node.Input, w *roster.Worker) {
	m.roster.Heard(in.Stream, env.Now())
	if msg, ok := in.Message.(*message.WorkerHeartbeat); ok {
		m.onWorkerHeartbeat(env, in, msg)
		return
	}
	if w == nil {
		ignored(env, in, "its worker has not registered with a heartbeat")
		return
	}
	m.heard(env, w)
	switch msg := in.Message.(type) {
	case *message.ShardAccepted:
		m.onShardAccepted(env, w, msg)
	case *message.ShardRefused:
		m.onShardRefused(env, w, msg)
	case *message.ShardRows:
		m.onShardRows(env, w, msg)
	case *message.ShardProgress:
		m.onShardProgress(env, w, msg)
	case *message.ShardResult:
		m.onShardResult(env, w, msg)
	default:
		ignored(env, in, "a manager has no use for it from a worker")
	}
}

func (m *Machine) onTimer(env node.Env, k node.TimerKey) {
	if k.Part != node.PartManager {
		m.onGroupTimer(env, k)
		return
	}
	switch k.Kind {
	case node.ManagerHeartbeat:
		m.onHeartbeat(env)
	case node.ManagerWorker:
		m.onWorkerSilence(env, k.N())
	case node.ManagerJob:
		m.onRunTimeout(env, message.JobID(k.ID))
	case node.ManagerDispatch:
		m.onDispatchTimer(env)
	case node.ManagerRetry:
		m.onRetry(env)
	case node.ManagerPush:
		m.onPush(env)
	case node.ManagerSweep:
		m.onSweep(env)
	case node.ManagerDrain:
		m.depart(env) // what is still held here is for whoever takes it over
	}
}

func ignored(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

// owned returns the subjob while this manager may act for it: it holds the
// register, and what it took over is whole.
func (m *Machine) owned(env node.Env, id message.JobID) *subjob {
	if p := m.subjobs[id]; p != nil && m.holds(env, p) {
		return p
	}
	return nil
}

// holds says that the window of a subjob's lease is open now.
func (m *Machine) holds(env node.Env, p *subjob) bool {
	token, ok := m.leases.Holds(env.Now(), p.job)
	return ok && token.Packed() == p.fence.SubjobEpoch
}

// shardOf finds a shard of a subjob that this manager may act for, or nil.
func (m *Machine) shardOf(env node.Env, id message.ShardID) *shard {
	return m.owned(env, id.Job).shard(id)
}

// shard finds one of a subjob, which may be nil, or returns nil.
func (p *subjob) shard(id message.ShardID) *shard {
	if p == nil || int(id.Workflow) >= len(p.workflows) || int(id.Ordinal) >= len(p.workflows[id.Workflow].shards) {
		return nil
	}
	return p.workflows[id.Workflow].shards[id.Ordinal]
}

// stands says that a shard is still one of what this manager holds; for what
// comes back late.
func (m *Machine) stands(s *shard) bool {
	p := s.workflow.subjob
	return m.subjobs[p.job] == p && p.result == nil
}
