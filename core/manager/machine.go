package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/ledger"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/quorum"
	"hyperscale/core/uplink"
)

// Machine is a manager.
type Machine struct {
	config Config
	gates  *uplink.Links
	group  *quorum.Member // of the datacenter's managers; nil until the start

	sent     map[node.StreamID]*beats         // heartbeats to each gate
	roster   *roster.Roster                   // of workers
	subjobs  map[message.JobID]*subjob.Subjob // whose register this manager holds
	order    []*subjob.Subjob                 // of subjobs, oldest first
	claims   map[message.JobID]*subjob.Claim  // orders of a gate that wait for the register
	ended    map[message.JobID]node.Instant
	gone     map[message.JobID]node.Instant // that a majority knows nothing of any more
	ledger   *ledger.Ledger[tag]
	draining bool // no new subjob is taken
	operator operator
	stopping bool // and this node ends when it holds none
	pushing  bool // the timer of progress is set
	nextTry  node.Instant

	token node.Token // of the last write of its own
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
		subjobs: map[message.JobID]*subjob.Subjob{},
		claims:  map[message.JobID]*subjob.Claim{},
		ended:   map[message.JobID]node.Instant{},
		gone:    map[message.JobID]node.Instant{},
		ledger:  ledger.New[tag](c.FileAge / 8),
	}
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	if m.group == nil || !m.group.Step(env, in) {
		m.handle(env, in)
	}
	m.settle(env)
}

// handle acts on an input that is not the group's.
func (m *Machine) handle(env node.Env, in *node.Input) {
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
		m.onOrderStored(env, in)
	case node.InputStop:
		m.onStop(env)
	case node.InputCommand:
		env.Answer(in.Command, &message.Refused{Request: message.RequestID{Incarnation: env.Self().Incarnation, Counter: uint64(in.Command)}, Code: message.CodeNotOwner, Detail: "a manager takes no commands: ask a gate"})
	}
}

func (m *Machine) onMessage(env node.Env, in *node.Input) {
	if d, ok := in.Message.(*message.Drain); ok && (in.From.Role == node.RoleGate || in.From.Role == node.RoleManager) {
		m.onDrainOrder(env, d)
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
	if k.Part == node.PartUplink {
		m.gates.Fire(env, k)
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
func (m *Machine) owned(env node.Env, id message.JobID) *subjob.Subjob {
	if p := m.subjobs[id]; p != nil && m.holds(env, p) {
		return p
	}
	return nil
}

// holds says that the window of a subjob's lease is open now.
func (m *Machine) holds(env node.Env, p *subjob.Subjob) bool {
	token, ok := m.group.Leases.Holds(env.Now(), p.Job)
	return ok && token.Packed() == p.Fence.SubjobEpoch
}

// shardOf finds a shard of a subjob that this manager may act for, or nil.
func (m *Machine) shardOf(env node.Env, id message.ShardID) *subjob.Shard {
	return m.owned(env, id.Job).Shard(id)
}

// stands says that a shard is still one of what this manager holds; for what
// comes back late.
func (m *Machine) stands(s *subjob.Shard) bool {
	p := s.Workflow.Subjob
	return m.subjobs[p.Job] == p && p.Result == nil
}
