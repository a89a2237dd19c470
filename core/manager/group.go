package manager

import (
	"errors"
	"fmt"
	"slices"

	"hyperscale/core/archive"
	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/health"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/ring"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
	"hyperscale/core/window"
)

// The groups of timers of the two lists of peers.
const (
	linksGates   = 1
	linksFellows = 2
)

// onStart joins the datacenter's group: the set is configured, and this node's own
// address is known only now.
func (m *Machine) onStart(env node.Env) {
	self := env.Self().Addr
	m.members = slices.Sorted(slices.Values(m.config.Managers))
	if len(m.members) == 0 {
		m.members = []node.Addr{self}
	}
	if !slices.Contains(m.members, self) {
		env.Halt(fmt.Sprintf("manager.managers = %v does not have this manager's own address %q: list it there as the others reach it", m.members, self))
		return
	}
	m.connect()
	registers := m.leaseConfig(self)
	if err := registers.Validate(); err != nil {
		env.Halt(err.Error())
		return
	}
	m.leases = lease.New(registers, m.fellows)
	files := archive.Default()
	files.Group, files.Self, files.Members, files.SweepAge = m.config.Datacenter, self, m.members, m.config.FileAge
	m.files = archive.New(files, m.fellows)
	members := swim.Default()
	members.Group, members.Seeds = m.config.Datacenter, m.members
	m.swim = swim.New(members)
	voters := election.Default()
	voters.Group, voters.Self, voters.Voters, voters.Registers = m.config.Datacenter, self, m.members, m.leases
	m.election = election.New(voters, m.fellows)
	clocks := health.DefaultClock()
	clocks.BoundPPM = 2 * m.config.DriftPPM
	m.clocks = health.NewClocks(clocks)
	m.monitor = health.New(health.Default())

	m.operator.drains = len(env.Store().Load(keyDraining)) > 0
	m.draining = m.operator.drains
	m.files.Start(env)
	m.leases.Start(env)
	m.election.Start(env)
	m.swim.Start(env)
	m.gates.Start(env)
	m.fellows.Start(env)
	m.monitor.Start(env)
	env.SetTimer(node.Key(node.PartManager, node.ManagerHeartbeat), m.config.Heartbeat)
	env.SetTimer(node.Key(node.PartManager, node.ManagerRetry), m.config.Retry)
	env.SetTimer(node.Key(node.PartManager, node.ManagerSweep), m.config.SweepInterval)
}

func (m *Machine) connect() {
	up := uplink.Config{
		Group: linksGates, Role: node.RoleGate, Datacenter: m.config.Datacenter, Remedy: "--gates or --seed",
		Silence: m.config.Silence, ReconnectMin: m.config.ReconnectMin, ReconnectMax: m.config.ReconnectMax,
	}
	m.gates = uplink.New(up, slices.Concat(m.config.Gates, m.config.Seeds))
	up.Group, up.Role, up.Remedy = linksFellows, node.RoleManager, "--managers"
	up.Beats, up.Beat = true, m.config.Heartbeat
	m.fellows = uplink.New(up, m.members)
}

func (m *Machine) leaseConfig(self node.Addr) lease.Config {
	c := lease.Default()
	c.Group, c.Self, c.Members = m.config.Datacenter, self, m.members
	c.Lease, c.AttemptTimeout = m.config.SubjobLease, m.config.QuorumTimeout
	c.DriftPPM, c.Granularity, c.Recover = m.config.DriftPPM, window.Granularity, m.config.Recover
	c.RetryMax = min(c.RetryMax, c.Lease/4)
	c.RetryMin = min(c.RetryMin, c.RetryMax/2)
	// An expired subjob has RenewalTimeout less this lease before its shards stop.
	c.RankWait = min(c.RankWait, c.Lease/4)
	order := ring.New(m.members)
	c.Rank = func(job message.JobID) int { return order.Rank(job, self, m.alive) }
	return c
}

// alive says of a fellow that it can be counted on to try first.
func (m *Machine) alive(a node.Addr) bool {
	who, known := m.swim.FindAddr(a)
	return !known || !who.State.Gone()
}

func (m *Machine) onOpened(env node.Env, in *node.Input) {
	if l, ours := m.gates.Opened(env, in); ours {
		if l != nil {
			m.onGateOpened(env, l)
		}
		return
	}
	if _, ours := m.fellows.Opened(env, in); ours || m.swim.Opened(env, in) {
		return
	}
	switch in.From.Role {
	case node.RoleWorker:
		if n := m.roster.Streams(); n >= 2*m.config.WorkersMax {
			env.Emit(event.Shed{What: "stream of worker " + string(in.From.ID), Why: fmt.Sprintf("%d workers are connected", n)})
			env.Close(in.Stream)
			return
		}
		m.roster.Opened(in.Stream, env.Now())
	case node.RoleManager: // a fellow's own, or an exchange of lists
	default:
		env.Close(in.Stream) // gates are called, clients ask gates
	}
}

func (m *Machine) onBroken(env node.Env, in *node.Input) {
	delete(m.sent, in.Stream)
	if _, ours := m.gates.Broken(env, in); ours {
		return
	}
	if _, ours := m.fellows.Broken(env, in); ours || m.swim.Broken(env, in) {
		return
	}
	m.onWorkerBroken(env, in)
}

// onGroupMessage takes what the parts of the group say to each other, by whatever
// way it came, and says whether it was that.
func (m *Machine) onGroupMessage(env node.Env, in *node.Input) bool {
	if d, ok := in.Message.(*message.Drain); ok && (in.From.Role == node.RoleGate || in.From.Role == node.RoleManager) {
		m.onDrainOrder(env, d)
		return true
	}
	return m.swim.Receive(env, in) || m.fellows.Receive(env, in) ||
		m.leases.Receive(env, in.From, in.Message) || m.files.Receive(env, in.From, in.Message) ||
		m.election.Receive(env, in.From, in.Message) || in.From.Role == node.RoleManager && uplink.AnswerBeat(env, in)
}

func (m *Machine) onGroupTimer(env node.Env, k node.TimerKey) {
	switch k.Part {
	case node.PartUplink:
		_ = m.gates.Fire(env, k) || m.fellows.Fire(env, k)
	case node.PartLease:
		m.leases.Fire(env, k)
	case node.PartArchive:
		m.files.Fire(env, k)
	case node.PartSwim:
		m.swim.Fire(env, k)
	case node.PartElection:
		m.election.Fire(env, k)
	case node.PartHealth:
		m.onHealth(env, k)
	}
}

func (m *Machine) onStored(env node.Env, in *node.Input) {
	switch in.Token.Part() {
	case node.PartLease:
		m.leases.Stored(env, in)
	case node.PartArchive:
		m.files.Stored(env, in)
	case node.PartElection:
		m.election.Stored(env, in)
	case node.PartNone:
		m.onOrderStored(env, in)
	default:
		node.Bug("manager: token %d completes a write that was never begun", in.Token)
	}
}

// settle goes on with what the subjobs came to, and sends the records that have
// changed, until nothing follows any more.
func (m *Machine) settle(env node.Env) {
	if m.leases == nil {
		return // it was refused at its start
	}
	for {
		m.leases.Flush(env)
		leases := slices.Clone(m.leases.Take())
		for i := range leases {
			m.onLease(env, &leases[i])
		}
		files := slices.Clone(m.files.Take())
		for i := range files {
			m.onFile(env, &files[i])
		}
		changes := slices.Clone(m.swim.Take())
		for i := range changes {
			m.onMember(env, &changes[i])
		}
		votes := m.election.Take()
		for _, o := range votes {
			if o.Kind == election.Led {
				m.sweepStrays(env)
			}
		}
		if !m.flush(env) && len(leases)+len(files)+len(changes)+len(votes) == 0 {
			return
		}
	}
}

func (m *Machine) onLease(env node.Env, o *lease.Outcome) {
	switch o.Kind {
	case lease.Ready:
		m.mend(env)
	case lease.Granted:
		m.onGranted(env, o)
	case lease.Denied:
		m.onDenied(env, o)
	case lease.Waiting:
		m.onWaiting(env, o)
	case lease.Updated:
		m.onUpdated(env, o.Job, o.Ticket)
	case lease.Rejected:
		if p := m.subjobs[o.Job]; p != nil {
			m.records.of[p].unsend(o.Ticket) // onRetry writes it again, if this manager still holds it then
		}
	case lease.Lost:
		if p := m.subjobs[o.Job]; p != nil {
			m.lapse(env, p)
		}
	case lease.Released:
		if o.Reason == "released" {
			m.remember(env, o.Job)
		}
		m.drained(env)
	case lease.Read:
		if then := m.reads[o.Ticket]; then != nil {
			delete(m.reads, o.Ticket)
			then(env, o)
		}
	case lease.Vacant:
		m.onVacant(env, o)
	case lease.SetDiffers:
		env.Emit(event.PeerRefused{Peer: node.ID(o.Holder), Role: node.RoleManager, Reason: o.Err.Error()})
	case lease.Alarm: // the registers have told it as an event
	}
}

// onWaiting: no majority has answered in time. A gate is told, and asks again or
// another manager; a vacancy is tried on.
func (m *Machine) onWaiting(env node.Env, o *lease.Outcome) {
	c := m.claims[o.Job]
	if c == nil || c.Gate == "" {
		return
	}
	code := message.CodeQuorumUnavailable
	switch {
	case errors.Is(o.Err, lease.ErrQuorumTimeout):
		code = message.CodeQuorumTimeout
	case errors.Is(o.Err, lease.ErrNotMember):
		code = message.CodeNotMember
	}
	m.dropClaim(env, o.Job, code, "acquire the subjob: "+o.Err.Error())
}

func (m *Machine) onFile(env node.Env, o *archive.Outcome) {
	if then := m.keeps[o.Ticket]; then != nil {
		delete(m.keeps, o.Ticket)
		then(env, o.Err)
	}
	if then := m.fetches[o.Ticket]; then != nil {
		delete(m.fetches, o.Ticket)
		then(env, o)
	}
}

// read asks a majority about a job's register.
func (m *Machine) read(env node.Env, job message.JobID, then func(env node.Env, found, released bool)) {
	m.ticket++
	m.reads[m.ticket] = func(env node.Env, o *lease.Outcome) {
		if o.Err == nil {
			then(env, o.Found, o.State.Released)
		}
	}
	m.leases.Read(env, job, m.ticket)
}

// onMember lets a death count like a silence of this manager's own, whoever saw
// it; who is suspected is given nothing new.
func (m *Machine) onMember(env node.Env, c *swim.Change) {
	switch {
	case c.Kind == swim.ChangeSample:
		s := health.Sample{Sent: c.Sample.Sent, Received: c.Sample.Received, Uptime: c.Sample.Uptime}
		m.clocks.Observe(env, c.Member.ID, c.Member.Run(), s) // tells observers of a clock that is not to be trusted
		return
	case c.Kind != swim.ChangeMember:
		return
	case c.To == swim.Removed:
		m.clocks.Forget(c.Member.ID)
	}
	w := m.roster.Of(c.Member.ID)
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

// onHealth tells the membership how late this node's loop is, and the election how
// well the membership finds this node, when that changes.
func (m *Machine) onHealth(env node.Env, k node.TimerKey) {
	m.monitor.Fire(env, k)
	m.monitor.SetMultiplier(env, m.swim.Multiplier())
	m.election.SetFitness(env, m.swim.Multiplier())
	if lag := m.monitor.Lag(); lag != m.lag {
		m.lag = lag
		m.swim.SetLag(lag)
	}
}
