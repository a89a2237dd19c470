package manager

import (
	"maps"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

const (
	workersListed = 256 // in one heartbeat
	beatsKept     = 16  // answers to older heartbeats renew nothing
)

// beats is when the last heartbeats of a stream were sent, by sequence.
type beats [beatsKept]node.Instant

func (m *Machine) onGateOpened(env node.Env, l *uplink.Link) {
	//lint:orderfree each entry goes or stays by itself
	for old := range m.sent {
		if m.gates.Of(old) == nil { // closed here: nobody told of its end
			delete(m.sent, old)
		}
	}
	m.sent[l.Stream] = &beats{}
	m.beat(env, l)
	for _, p := range m.order {
		if p.gate == l.Addr && m.holds(env, p) {
			m.tell(env, p)
		}
	}
}

// onHeartbeatAck registers this manager, and renews what the gate says it owns:
// this datacenter may go on with it for a lease from when the heartbeat was sent.
func (m *Machine) onHeartbeatAck(env node.Env, l *uplink.Link, ack *message.HeartbeatAck) {
	if !m.gates.Acked(env, l, ack.Sequence) {
		return
	}
	sent := m.sent[l.Stream]
	if sent == nil || ack.Sequence == 0 || l.Sequence-ack.Sequence >= beatsKept {
		return
	}
	at := sent[ack.Sequence%beatsKept]
	for _, ref := range ack.Parts {
		p := m.parts[ref.Job]
		if p == nil || ref.Fence.Job < p.fence.Job || !m.holds(env, p) {
			continue
		}
		p.gate = l.Addr
		m.extend(env, p, at)
	}
}

// extend moves the end of a part's lease from its gate, never back.
func (m *Machine) extend(env node.Env, p *part, from node.Instant) {
	if until := from.Add(m.config.hold(m.config.DatacenterLease)); until > p.deadline {
		p.deadline = until
	}
	if p.deadline.Sub(p.known) > m.config.DatacenterLease/8 && !p.changed && p.missing == 0 {
		m.commit(env, p, nil) // who takes it over keeps to it
	}
}

// sight is when this manager first saw a record of a part that another one holds.
type sight struct {
	token  message.LeaseToken
	record uint64 // its digest
	at     node.Instant
}

// watch notes when the records of others change: how long ago one was written
// says how much of the datacenter's lease is left, were this manager to take over.
func (m *Machine) watch(env node.Env) {
	for _, job := range m.leases.Known() {
		seen, ok := m.leases.Seen(env.Now(), job)
		if !ok || seen.Released || m.parts[job] != nil {
			delete(m.sights, job)
			continue
		}
		if old := m.sights[job]; old.token != seen.Token || old.record != node.MixBytes(1, seen.Record) {
			m.sights[job] = sight{seen.Token, node.MixBytes(1, seen.Record), env.Now()}
		}
	}
}

// inherit shortens the deadline of a part that is taken over by how long ago its
// record was seen first, and never gives it more than a lease from now.
func (m *Machine) inherit(env node.Env, p *part, record []byte) {
	if s := m.sights[p.job]; s.record == node.MixBytes(1, record) {
		p.deadline -= node.Instant(env.Now().Sub(s.at))
	}
	p.deadline = min(p.deadline, env.Now().Add(m.config.hold(m.config.DatacenterLease)))
	p.known = p.deadline
}

// cutOff stops the parts whose gate has not been heard for a lease: by then their
// jobs may have been given to another datacenter.
func (m *Machine) cutOff(env node.Env) {
	for _, p := range slices.Clone(m.order) {
		if p.result != nil || p.asked != message.JobNone || env.Now() < p.deadline || p.missing > 0 || !m.holds(env, p) {
			continue
		}
		p.asked, p.why = message.JobFailed, "cut off from the gates for "+m.config.hold(m.config.DatacenterLease).String()+": nobody could say that the job was still this datacenter's"
		m.stopPart(env, p)
	}
}

// onHeartbeat is also the tick of what waits: slices without cores, and the
// datacenter's own end.
func (m *Machine) onHeartbeat(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerHeartbeat), m.config.Heartbeat)
	if m.draining {
		m.handOver(env)
	}
	m.watch(env)
	m.cutOff(env)
	m.place(env)
	m.beatAll(env)
}

func (m *Machine) beatAll(env node.Env) {
	for _, l := range m.gates.All() {
		if l.Stands {
			m.beat(env, l)
		}
	}
}

// beat tells a gate what this datacenter has, and the parts that are owned here
// and whose end is not acknowledged.
func (m *Machine) beat(env node.Env, l *uplink.Link) {
	l.Sequence++
	if sent := m.sent[l.Stream]; sent != nil {
		sent[l.Sequence%beatsKept] = env.Now()
	}
	hb := &message.ManagerHeartbeat{Datacenter: m.config.Datacenter, Sequence: l.Sequence, Draining: m.draining}
	for _, id := range slices.Sorted(maps.Keys(m.workers)) {
		w := m.workers[id]
		if !w.registered {
			continue
		}
		if !w.draining {
			hb.WorkerSum++
			hb.CoresTotal += w.total
			hb.CoresFree += w.free()
		}
		if len(hb.Workers) < workersListed {
			hb.Workers = append(hb.Workers, message.WorkerInfo{
				Node: string(id), CoresTotal: w.total, CoresFree: w.free(), Incarnation: w.peer.Incarnation, Draining: w.draining,
			})
		}
	}
	for _, p := range m.order {
		if !p.acked && m.holds(env, p) {
			hb.Parts = append(hb.Parts, message.PartRef{Job: p.job, Fence: p.fence, State: p.state})
		}
	}
	slices.SortFunc(hb.Parts, func(a, b message.PartRef) int { return a.Job.Compare(b.Job) })
	for _, g := range m.config.Gates {
		hb.Gates = append(hb.Gates, string(g))
	}
	slices.Sort(hb.Gates)
	hb.Doubts = m.doubts()
	leader, term, _ := m.election.Leader()
	hb.Leader, hb.Term = string(leader), term
	env.Send(l.Stream, hb)
}

// doubtsListed bounds those in a heartbeat.
const doubtsListed = 64

// doubts lists the members of the datacenter that are not alive, for people.
func (m *Machine) doubts() []message.MemberInfo {
	var all []message.MemberInfo
	for _, o := range m.swim.Members() {
		if o.State != swim.Alive && len(all) < doubtsListed {
			all = append(all, message.MemberInfo{
				Node: string(o.ID), Addr: string(o.Addr), Role: uint8(o.Role), Incarnation: o.Run(), State: o.State.String(), By: string(o.By),
			})
		}
	}
	return all
}
