package worker

import (
	"hyperscale/core/discovery"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
	"hyperscale/core/worker/cores"
	"hyperscale/core/worker/fences"
	"hyperscale/core/worker/outbox"
)

// Machine is a worker: it connects its holdings to its managers, its group and its disk.
type Machine struct {
	orders
	group   *swim.Group
	watch   watch // for alerts
	givenUp bool  // the stop no longer waits for ends
}

// New returns a worker. The configuration must be valid.
func New(c Config) *Machine {
	if err := c.Validate(); err != nil {
		node.Bug("worker: %v", err)
	}
	m := &Machine{group: newGroup(c)}
	m.holdings = newHoldings(c)
	return m
}

func newHoldings(c Config) holdings {
	return holdings{
		config:   c,
		managers: newManagers(c),
		disk:     disk{writes: map[node.WriteID]write{}},
		cores:    cores.New(c.Cores),
		outbox:   outbox.New(c.OutboxMax),
		refusals: fences.NewRefusals(c.FencesMax),
		resting:  fences.NewResting(c.FencesMax, c.FenceAge),
		shards:   map[message.ShardID]*shard{},
		active:   map[uint64]*execution{},
		runs:     map[node.ExecID]*run{},
	}
}

func newManagers(c Config) managers {
	found := discovery.Default()
	found.Group, found.Names = uint64(node.RoleManager), c.Discover
	return managers{
		names: discovery.New(found),
		links: uplink.New(uplink.Config{
			Group: uint64(node.RoleManager), Role: node.RoleManager, Datacenter: c.Datacenter, Remedy: "--managers or --seed",
			Silence: c.Silence, ReconnectMin: c.ReconnectMin, ReconnectMax: c.ReconnectMax,
		}, c.Managers),
		rhythms: map[*uplink.Link]*rhythm{},
		timeout: c.RenewalTimeout,
	}
}

// newGroup returns the datacenter's membership, whose seeds are the managers. The worker is a
// member so that managers detect its death before they miss heartbeats. It uses nothing of the
// membership itself.
func newGroup(c Config) *swim.Group {
	g := swim.Default()
	g.Group, g.Seeds, g.Names, g.Untold = c.Datacenter, c.Managers, c.Names, true
	return swim.New(g)
}

// Step implements node.Machine.
func (m *Machine) Step(env node.Env, in *node.Input) {
	m.watch.post.See(in.Mail)
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
		if !m.group.Broken(env, in) {
			m.managers.links.Broken(env, in)
		}
	case node.InputTimer:
		m.onTimer(env, in.Timer)
	case node.InputNames:
		m.onNames(env, in.Names)
	case node.InputStored:
		m.onStored(env, in.WriteID, in.Err)
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
	m.managers.links.Start(env)
	m.managers.names.Start(env)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerHeartbeat), m.config.Heartbeat)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerRetry), m.config.ResultRetry)
	env.SetTimer(node.Key(node.PartWorker, node.WorkerSweep), m.config.SweepInterval)
}

func (m *Machine) onMessage(env node.Env, in *node.Input) {
	if m.group.Receive(env, in) {
		return
	}
	l := m.managers.links.Of(in.Stream)
	if l == nil {
		ignored(env, in, "it came on no stream of a manager")
		return
	}
	switch msg := in.Message.(type) {
	case *message.HeartbeatAck:
		m.onHeartbeatAck(env, l, msg)
	case *message.ShardDispatch:
		m.onDispatch(env, l, msg)
	case *message.WorkerHold:
		m.onHold(env, l, msg)
	case *message.ShardRowsLeased:
		m.onRowsLeased(env, msg)
	case *message.ShardReleased:
		m.onReleased(env, msg)
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

// onShed refuses a dispatch that found no room in the mailbox.
func (m *Machine) onShed(env node.Env, in *node.Input) {
	l := m.managers.links.Of(in.Stream)
	d, ok := in.Message.(*message.ShardDispatch)
	if l == nil || !ok {
		ignored(env, in, "it found no room, and no worker answers it")
		return
	}
	m.onDispatchShed(env, l, d)
}

func (m *Machine) onTimer(env node.Env, k node.TimerKey) {
	if m.managers.links.Fire(env, k) || m.managers.names.Fire(env, k) || m.group.Fire(env, k) {
		return
	}
	switch k.Kind {
	case node.WorkerHeartbeat:
		m.onHeartbeat(env)
	case node.WorkerRenewal:
		m.lapse(env, m.active[k.N()])
	case node.WorkerShard:
		m.active[k.N()].timeOut(env)
	case node.WorkerKill:
		m.active[k.N()].kill(env)
	case node.WorkerPush:
		m.onPush(env)
	case node.WorkerRetry:
		m.onRetry(env)
	case node.WorkerSweep:
		m.onSweep(env)
	case node.WorkerHold:
		m.letGo(env)
	case node.WorkerDrain:
		m.onDrained(env)
	}
}

func ignored(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

func (m *Machine) onStored(env node.Env, t node.WriteID, err error) {
	w := m.disk.take(t)
	if err != nil {
		env.Emit(event.StoreFailed{What: w.what, Err: err.Error()})
	}
	switch {
	case w.drain:
		m.drain.unwritten = err != nil // the sweep tries again
	case w.fence != nil:
		if err == nil {
			env.Emit(event.FenceStored{Shard: w.fence.shard.id, Fence: w.fence.fence})
		}
		m.onFenceStored(env, w.fence, err)
	case w.result != nil:
		m.onResultStored(env, w.result, err)
	}
}

func (m *Machine) onSweep(env node.Env) {
	env.SetTimer(node.Key(node.PartWorker, node.WorkerSweep), m.config.SweepInterval)
	m.reap(env)
	m.measureSlots(env)
	if m.drain.unwritten {
		m.writeDraining(env)
	}
	for x := m.outbox.Expired(env.Now(), m.config.FenceAge); x != nil; x = m.outbox.Expired(env.Now(), m.config.FenceAge) {
		m.discharge(env, x)
	}
}
