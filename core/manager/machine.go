package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/ledger"
	"hyperscale/core/manager/pace"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/pressure"
	"hyperscale/core/quorum"
	"slices"
)

// Machine is a manager. It passes each input to its layers; each layer calls only those below
// it.
type Machine struct{ tenure }

// New returns a manager. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("manager: %v", err)
	}
	m := &Machine{}
	m.sent = map[node.StreamID]*beats{}
	for _, g := range c.Gates {
		m.names = append(m.names, string(g))
	}
	slices.Sort(m.names)
	m.holdings = holdings{
		config: c, roster: roster.New(), ledger: ledger.New[tag](c.FileAge / 8), pace: pace.New(pace.Default()),
		subjobs: map[message.JobID]*subjob.Subjob{}, claims: map[message.JobID]*subjob.Claim{},
		ended: map[message.JobID]node.Instant{}, gone: map[message.JobID]node.Instant{},
		figures: figures{gauge: pressure.Gauge{Base: c.ProgressInterval, PerSecond: c.ReportsMax}},
	}
	return m
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	m.watch.post.See(in.Mail)
	if m.group == nil || !m.group.Step(env, in) {
		m.handle(env, in)
	}
	if m.group != nil && quorum.Judges(in) {
		m.report(env)
	}
	m.settle(env)
}

// handle acts on an input that is not for the group of managers.
func (m *Machine) handle(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.onStart(env)
	case node.InputMessage:
		m.onMessage(env, in)
	case node.InputShed:
		m.onShed(env, in)
	case node.InputStreamOpened:
		m.onOpened(env, in)
	case node.InputStreamBroken:
		m.onBroken(env, in)
	case node.InputTimer:
		m.onTimer(env, in.Timer)
	case node.InputNames:
		m.onNames(env, in.Names)
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
	if o, ok := in.Message.(*message.LeaseLevel); ok && in.From.Role == node.RoleGate {
		m.onLevelOrder(env, in.Stream, o)
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

// onShed refuses a gate's dispatch that found no room in the mailbox. One that this manager
// has, or that it claims, waits for the gate's next.
func (m *Machine) onShed(env node.Env, in *node.Input) {
	l := m.gates.Of(in.Stream)
	d, ok := in.Message.(*message.JobDispatch)
	if l == nil || !ok {
		ignored(env, in, "it found no room, and no manager answers it")
		return
	}
	if m.subjobs[d.Job] == nil && m.claims[d.Job] == nil {
		env.Emit(event.Reached{What: "manager/mailbox-full"})
		m.refuse(env, l, d, message.CodeOverloaded, "this manager has more messages waiting than its mailbox holds")
	}
}

func (m *Machine) onTimer(env node.Env, k node.TimerKey) {
	if k.Part == node.PartUplink {
		m.gates.Fire(env, k)
		return
	}
	if m.found.Fire(env, k) {
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
	case node.ManagerSum:
		m.onSum(env)
	case node.ManagerSweep:
		m.onSweep(env)
	case node.ManagerDrain:
		m.depart(env) // the next holder takes over what is still held here
	}
}

// onStop takes no new subjob. It gives its subjobs to other managers, where their shards
// continue, or, if there are none, waits for their end within a bound. Then this manager leaves
// its group. A second stop ends it at once.
func (m *Machine) onStop(env node.Env) {
	if m.stopping || m.group == nil {
		env.Halt("")
		return
	}
	m.stopping = true
	env.SetTimer(node.Key(node.PartManager, node.ManagerDrain), m.config.DrainTimeout)
	m.drain(env)
	m.group.Election.HandOver(env)
	m.drained(env)
}

// onHeartbeat is also the tick for what waits: shards without cores, and subjobs that no gate
// names.
func (m *Machine) onHeartbeat(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerHeartbeat), m.config.Heartbeat)
	if m.draining {
		m.handOver(env)
	}
	m.closeUnmet(env)
	m.cutOff(env)
	m.figures.count(m.order)
	m.figures.tell(env)
	m.place(env)
	m.readFleet(env)
	m.lookOver(env)
	m.beatAll(env)
	m.tellAlerts(env)
}

// onRetry repeats what was not answered: dispatches, cancellations, results, and writes that
// reached no majority.
func (m *Machine) onRetry(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerRetry), m.config.Retry)
	m.retryClaims(env)
	m.ledger.Retry(env)
	for _, p := range m.order {
		m.retryLost(env, p)
		if p.Missing > 0 || !m.holds(env, p) {
			continue
		}
		m.ledger.Resend(env, p.Job)
		if p.Result != nil {
			m.retryResult(env, p)
			continue
		}
		if p.Stop.Decided != p.Stop.Durable && !p.Stop.Writing {
			m.stopSubjob(env, p)
		}
		m.cleanUp(env, p)
		m.finishWhenEnded(env, p)
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				m.retryShard(env, s)
			}
		}
	}
}
