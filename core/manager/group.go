package manager

import (
	"fmt"
	"slices"

	"hyperscale/core/archive"
	"hyperscale/core/discovery"
	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/quorum"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
	"hyperscale/core/window"
)

// The groups of timers of the two lists of peers.
const (
	linksGates   = 1
	linksFellows = 2
)

// onStart joins the datacenter's group. The set is configured, but the node learns its own
// address only now.
func (m *Machine) onStart(env node.Env) {
	self := env.Self().Addr
	members, ok := quorum.Addresses(m.config.Managers, self)
	if !ok {
		env.Halt(fmt.Sprintf("manager.managers = %v does not have this manager's own address %q: list it there as the others reach it", members, self))
		return
	}
	up := uplink.Config{
		Group: linksGates, Role: node.RoleGate, Datacenter: m.config.Datacenter, Remedy: "--gates or --seed",
		Silence: m.config.Silence, ReconnectMin: m.config.ReconnectMin, ReconnectMax: m.config.ReconnectMax,
	}
	gates := slices.Clone(m.config.Gates)
	if set, names := recallGates(env, gates); set > 0 {
		m.set, m.names = set, names
		for _, a := range names {
			if !slices.Contains(gates, node.Addr(a)) {
				gates = append(gates, node.Addr(a))
			}
		}
	}
	m.gates = uplink.New(up, slices.Concat(gates, m.config.Seeds))
	found := discovery.Default()
	found.Group, found.Names = linksGates, m.config.Discover
	m.found = discovery.New(found)
	up.Group, up.Role, up.Remedy = linksFellows, node.RoleManager, "--managers"
	up.Beats, up.Beat = true, m.config.Heartbeat
	group := m.quorumConfig(self, members, up).Seated(env)
	if err := group.Validate(); err != nil {
		env.Halt(err.Error())
		return
	}
	m.group = quorum.New(group)
	m.ledger.Start(m.group.Leases, m.group.Files)
	if len(members) > 1 {
		m.lone.left = max(1, env.Now()) // others may run what this manager has not heard of
	}
	m.operator.drains = len(env.Store().Load(keyDraining)) > 0
	m.draining = m.operator.drains
	m.group.Start(env, m.gates)
	m.found.Start(env)
	env.SetTimer(node.Key(node.PartManager, node.ManagerHeartbeat), m.config.Heartbeat)
	env.SetTimer(node.Key(node.PartManager, node.ManagerRetry), m.config.Retry)
	env.SetTimer(node.Key(node.PartManager, node.ManagerSweep), m.config.SweepInterval)
}

// onNames follows the addresses behind the names of gates. A name is never a member of a group: a
// majority counts what a person wrote.
func (m *Machine) onNames(env node.Env, found *node.Names) {
	c := m.found.Take(env, found)
	for _, a := range c.Added {
		m.gates.Find(env, a)
	}
	for _, a := range c.Removed {
		m.gates.Lose(env, a)
	}
}

func (m *Machine) quorumConfig(self node.Addr, members []node.Addr, links uplink.Config) quorum.Config {
	c := quorum.Config{
		Group: m.config.Datacenter, Self: self, Members: members, Open: true, DriftPPM: m.config.DriftPPM,
		Links: links, Lease: lease.Default(), Files: archive.Default(),
	}
	l := &c.Lease
	l.Lease, l.AttemptTimeout, l.Granularity, l.Recover = m.config.SubjobLease, m.config.QuorumTimeout, window.Granularity, m.config.Recover
	l.Records = subjob.Records{}
	l.RetryMax = min(l.RetryMax, l.Lease/4)
	l.RetryMin = min(l.RetryMin, l.RetryMax/2)
	// An expired subjob has RenewalTimeout less this lease before its shards stop.
	l.RankWait = min(l.RankWait, l.Lease/4)
	c.Files.SweepAge = m.config.FileAge
	return c
}

func (m *Machine) onOpened(env node.Env, in *node.Input) {
	if l, ours := m.gates.Opened(env, in); ours {
		if l != nil {
			m.onGateOpened(env, l)
		}
		return
	}
	switch in.From.Role {
	case node.RoleWorker:
		if n := m.roster.Streams(); n >= 2*m.config.WorkersMax {
			env.Emit(event.Shed{Reason: event.ShedBound, What: "stream of worker " + string(in.From.ID), Why: fmt.Sprintf("%d workers are connected", n)})
			env.Close(in.Stream)
			return
		}
		m.roster.Opened(in.Stream, env.Now())
	case node.RoleManager: // another manager's own stream, or an exchange of membership lists
	default:
		env.Close(in.Stream) // managers connect to gates, and clients ask gates
	}
}

func (m *Machine) onBroken(env node.Env, in *node.Input) {
	delete(m.sent, in.Stream)
	if _, ours := m.gates.Broken(env, in); ours {
		return
	}
	m.onWorkerBroken(env, in)
}

// settle handles the outcomes of the group, and sends the changed records, until none is left.
func (m *Machine) settle(env node.Env) {
	if m.group == nil {
		return // the manager was refused at its start
	}
	m.tellLone(env)
	m.sendPaced(env)
	for again := true; again; {
		again = false
		for r, ok := m.group.Ready(env); ok; r, ok = m.group.Ready(env) {
			again = true
			m.onReady(env, r)
		}
		again = m.flush(env) || again
	}
}

func (m *Machine) onReady(env node.Env, r quorum.Ready) {
	switch {
	case r.Lease != nil:
		m.onLease(env, r.Lease)
		m.persisted(env)
	case r.File != nil:
		m.ledger.OnFile(env, r.File)
		m.persisted(env)
	case r.Vote != nil && r.Vote.Kind == election.Led:
		m.sweepStrays(env)
	case r.Member != nil:
		m.onMember(env, r.Member)
	case r.Seat != nil:
		m.onSeat(env, r.Seat)
	}
}

// seatAsk is the gate that waits for the end of the last change of seats.
type seatAsk struct {
	tag     uint64
	stream  node.StreamID
	request message.RequestID
}

// onSeatOrder gives a seat of this manager's set away. It names no set if neither address is in it.
func (m *gateSide) onSeatOrder(env node.Env, in *node.Input, o *message.SeatOrder) {
	set := m.group.Leases.Set().Members
	if !slices.Contains(set, o.Old) && !slices.Contains(set, o.New) {
		env.Send(in.Stream, &message.SeatReplaced{Request: o.Request, Group: m.config.Datacenter})
		return
	}
	m.orders++
	m.seat = seatAsk{tag: m.orders, stream: in.Stream, request: o.Request}
	m.group.Replace(env, node.Addr(o.Old), node.Addr(o.New), m.orders)
}

func (m *Machine) onSeat(env node.Env, s *quorum.Seat) {
	if s.Tag != m.seat.tag {
		return
	}
	told := &message.SeatReplaced{Request: m.seat.request, Group: m.config.Datacenter, Version: s.Set.Version, Set: s.Set.Members, Known: uint32(s.Known)}
	if s.Err != nil {
		told.Why = s.Err.Error()
	}
	env.Send(m.seat.stream, told)
}

func (m *Machine) onLease(env node.Env, o *lease.Outcome) {
	if m.ledger.OnLease(o) {
		return
	}
	switch o.Kind {
	case lease.Ready:
		m.mend(env)
		m.beatAll(env) // until now it told the gates that it takes nothing
	case lease.Granted:
		m.onGranted(env, o)
	case lease.Denied:
		m.onDenied(env, o)
	case lease.Waiting:
		m.onWaiting(env, o)
	case lease.Lost:
		if p := m.subjobs[o.Job]; p != nil {
			m.lapse(env, p)
		}
	case lease.Released:
		if o.Reason == "released" {
			m.remember(env, o.Job)
		}
		m.drained(env)
	case lease.Vacant:
		m.onVacant(env, o)
	case lease.SetDiffers:
		env.Emit(event.PeerRefused{Peer: node.ID(o.Holder), Role: node.RoleManager, Reason: o.Err.Error()})
	case lease.Alarm: // the registers have emitted an event
	}
}

// onMember treats a death that the group reports like silence that this manager noticed itself.
// A suspected worker gets nothing new.
func (m *Machine) onMember(env node.Env, c *swim.Change) {
	w := m.roster.Of(c.Member.ID)
	if c.Member.Role == node.RoleWorker && c.To == swim.Dead {
		m.lone.left = max(1, env.Now()) // another manager may have renewed what it ran until now
	}
	if w == nil {
		return
	}
	m.roster.Suspect(w, c.To == swim.Suspect || c.To.Gone())
	if c.To.Gone() && c.Member.Run() >= w.Peer.Incarnation {
		m.dropWorker(env, w, c.To.String()+" in the group: "+c.Reason)
	}
	if !w.Suspect {
		m.place(env)
	}
}
