package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Machine is a manager.
type Machine struct {
	config   Config
	gates    []*gate
	workers  map[node.ID]*worker
	streams  map[node.StreamID]*worker // nil until its first heartbeat
	parts    map[message.JobID]*part
	incoming map[message.JobID]*part // being written, to take the place of what parts has
	order    []*part                 // of parts, oldest first
	writes   map[node.Token]write
	draining bool
	pushing  bool // the timer of progress is set
	loading  bool // what is found on disk was told by the last incarnation

	number uint64 // of the last worker
	token  node.Token
}

// part is one job's share of this datacenter under one fence.
type part struct {
	job       message.JobID
	fence     message.Fence // attempt 0
	gate      node.ID       // who is told
	dispatch  *message.JobDispatch
	digest    uint64 // of its plan
	state     message.JobState
	asked     message.JobState // CANCELLED or TIMED_OUT once it is to end so
	stop      message.JobState // the same once that is on disk
	stopping  bool             // it is on its way there
	why       string
	workflows []*workflow
	accepted  node.Instant
	sequence  uint64
	dirty     bool
	result    *message.PartResult
	writing   bool // the result is on its way to the disk
	recorded  bool // it is there
	acked     bool
	finished  node.Instant
	told      node.Instant
}

// workflow is one workflow of a part.
type workflow struct {
	part    *part
	index   uint32
	plan    *message.WorkflowPlan
	state   message.WorkflowState
	failure string
	waits   string // what for, while it has no cores
	slices  []*slice
	kept    bool         // how it is cut is on disk
	ready   node.Instant // when all it depends on had ended; zero before
	started node.Instant
	ended   node.Instant
	stats   message.Stats // of one that has ended
}

// slice is the unit of dispatch. Its fence is the part's with its attempt.
type slice struct {
	workflow   *workflow
	id         message.SliceID
	vus, first uint64
	cores      uint32
	state      message.WorkflowState
	attempt    uint64
	worker     node.ID // of that attempt
	written    bool    // the attempt is on disk, the dispatch may be sent
	dispatches int
	reruns     int
	failed     []node.ID // workers that lost or refused it
	notBefore  node.Instant
	sent       node.Instant
	accepted   node.Instant
	denials    int
	progress   *message.SliceProgress
	counting   bool // a result is on its way to the disk
	result     *message.SliceResult
	why        string                // of an end without a result
	end        message.WorkflowState // how it is to end without one; none while it goes on
	endWriting bool
	lost       []message.LostAttempt
}

func (s *slice) fence() message.Fence {
	f := s.workflow.part.fence
	f.Attempt = s.attempt
	return f
}

// live says that a worker has, or may have, the current attempt.
func (s *slice) live() bool {
	return s.end == message.WorkflowNone && (s.state == message.WorkflowAssigned || s.state == message.WorkflowRunning)
}

// New returns a manager. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("manager: %v", err)
	}
	m := &Machine{
		config:   c,
		workers:  map[node.ID]*worker{},
		streams:  map[node.StreamID]*worker{},
		parts:    map[message.JobID]*part{},
		incoming: map[message.JobID]*part{},
		writes:   map[node.Token]write{},
	}
	for i, addr := range c.Gates {
		m.gates = append(m.gates, &gate{number: uint64(i), addr: addr})
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
		m.onBroken(env, in)
	case node.InputTimer:
		m.onTimer(env, in.Timer)
	case node.InputStored:
		m.onStored(env, in.Token, in.Err)
	case node.InputStop:
		m.onStop(env)
	case node.InputCommand:
		env.Answer(in.Command, &message.Refused{Request: message.RequestID{Incarnation: env.Self().Incarnation, Counter: uint64(in.Command)}, Code: message.CodeNotOwner, Detail: "a manager takes no commands: ask a gate"})
	}
}

func (m *Machine) onStart(env node.Env) {
	if !m.load(env) {
		return
	}
	for _, g := range m.gates {
		m.open(env, g)
	}
	env.SetTimer(node.Key(node.PartManager, node.ManagerHeartbeat), m.config.Heartbeat)
	env.SetTimer(node.Key(node.PartManager, node.ManagerRetry), m.config.Retry)
	env.SetTimer(node.Key(node.PartManager, node.ManagerSweep), m.config.SweepInterval)
}

func (m *Machine) onMessage(env node.Env, in *node.Input) {
	if g := m.gateOf(in.Stream); g != nil {
		m.onGateMessage(env, g, in)
		return
	}
	if _, ok := m.streams[in.Stream]; ok {
		m.onWorkerMessage(env, in)
		return
	}
	ignored(env, in, "it came on no stream of a gate or a worker")
}

func (m *Machine) onGateMessage(env node.Env, g *gate, in *node.Input) {
	switch msg := in.Message.(type) {
	case *message.HeartbeatAck:
		m.onHeartbeatAck(env, g, msg)
	case *message.JobDispatch:
		m.onJobDispatch(env, g, msg)
	case *message.PartCancel:
		m.onPartCancel(env, g, msg)
	case *message.PartResultAck:
		m.onPartResultAck(env, msg)
	default:
		ignored(env, in, "a manager has no use for it from a gate")
	}
}

func (m *Machine) onWorkerMessage(env node.Env, in *node.Input) {
	if msg, ok := in.Message.(*message.WorkerHeartbeat); ok {
		m.onWorkerHeartbeat(env, in, msg)
		return
	}
	w := m.streams[in.Stream]
	if w == nil {
		ignored(env, in, "its worker has not registered with a heartbeat")
		return
	}
	m.heard(env, w)
	switch msg := in.Message.(type) {
	case *message.SliceAccepted:
		m.onSliceAccepted(env, w, msg)
	case *message.SliceRefused:
		m.onSliceRefused(env, w, msg)
	case *message.SliceProgress:
		m.onSliceProgress(env, w, msg)
	case *message.SliceResult:
		m.onSliceResult(env, w, msg)
	default:
		ignored(env, in, "a manager has no use for it from a worker")
	}
}

func (m *Machine) onTimer(env node.Env, k node.TimerKey) {
	switch k.Kind {
	case node.ManagerHeartbeat:
		m.onHeartbeat(env)
	case node.ManagerReconnect:
		m.open(env, m.gates[k.N()])
	case node.ManagerSilence:
		m.onGateSilence(env, m.gates[k.N()])
	case node.ManagerWorker:
		m.onWorkerSilence(env, k.N())
	case node.ManagerJob:
		m.onRunTimeout(env, message.JobID(k.ID))
	case node.ManagerRetry:
		m.onRetry(env)
	case node.ManagerPush:
		m.onPush(env)
	case node.ManagerSweep:
		m.onSweep(env)
	case node.ManagerDrain:
		env.Halt("")
	}
}

func ignored(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

// sliceOf finds a slice of a part that stands, or nil.
func (m *Machine) sliceOf(id message.SliceID) *slice {
	p := m.parts[id.Job]
	if p == nil || int(id.Workflow) >= len(p.workflows) || int(id.Ordinal) >= len(p.workflows[id.Workflow].slices) {
		return nil
	}
	return p.workflows[id.Workflow].slices[id.Ordinal]
}
