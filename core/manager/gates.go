package manager

import (
	"maps"
	"slices"

	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

const (
	workersListed = 256 // in one heartbeat
	beatsKept     = 256 // answers to older heartbeats renew nothing
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
	m.beat(env, l, m.heartbeat(env))
	for _, p := range m.order {
		if p.Gate == l.Addr && m.holds(env, p) {
			m.tell(env, p)
		}
	}
}

// onHeartbeatAck registers this manager, and takes the gate's word for the subjobs
// that it names.
func (m *Machine) onHeartbeatAck(env node.Env, l *uplink.Link, ack *message.HeartbeatAck) {
	if !m.gates.Acked(env, l, ack.Sequence) {
		return
	}
	sent := m.sent[l.Stream]
	if sent == nil || ack.Sequence == 0 || l.Sequence-ack.Sequence >= beatsKept {
		return
	}
	at := sent[ack.Sequence%beatsKept]
	var resumed []*subjob.Subjob
	for _, ref := range ack.Subjobs {
		p := m.subjobs[ref.Job]
		if p == nil || ref.Fence.JobEpoch < p.Fence.JobEpoch || !m.holds(env, p) {
			continue
		}
		p.Gate = l.Addr
		was := p.Fresh(env.Now())
		m.extend(p, at)
		if !was && p.Fresh(env.Now()) {
			resumed = append(resumed, p)
		}
	}
	m.resumed(env, resumed)
}

// resumed goes on with subjobs that have the gate's word again, or for the first time. What
// runs of them is renewed at once: its time has run since their former manager fell silent.
func (m *Machine) resumed(env node.Env, subjobs []*subjob.Subjob) {
	if len(subjobs) == 0 {
		return
	}
	run := map[node.ID]bool{}
	for _, p := range subjobs {
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				if s.Live() && s.Written {
					run[s.Worker] = true
				}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(run)) {
		if w := m.roster.Of(id); w != nil {
			m.renew(env, w)
		}
	}
	m.place(env)
}

// extend moves the end of the gate's word for a subjob, never back. It counts from the
// sending of the heartbeat that the gate answered, and from nothing else: a dispatch may
// be late, and a record says nothing of its age.
func (m *Machine) extend(p *subjob.Subjob, sent node.Instant) {
	p.Deadline = max(p.Deadline, sent.Add(m.config.terms().Hold()))
}

// cutOff ends the subjobs whose gate has not been heard for a lease, nor since this
// manager took them over. It is a report: their shards have lost their renewal before.
func (m *Machine) cutOff(env node.Env) {
	hold := m.config.terms().Hold()
	for _, p := range slices.Clone(m.order) {
		if p.Result != nil || p.Stop.Decided != message.JobNone || p.Fresh(env.Now()) || env.Now().Sub(p.Granted) < hold || p.Missing > 0 || !m.holds(env, p) {
			continue
		}
		p.Stop.Decided, p.Why = message.JobFailed, "cut off from the gates for "+hold.String()+": nobody could say that the job was still this datacenter's"
		m.stopSubjob(env, p)
	}
}

// onHeartbeat is also the tick of what waits: shards without cores, and the
// datacenter's own end.
func (m *Machine) onHeartbeat(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerHeartbeat), m.config.Heartbeat)
	if m.draining {
		m.handOver(env)
	}
	m.closeUnmet(env)
	m.cutOff(env)
	m.place(env)
	m.beatAll(env)
}

func (m *Machine) beatAll(env node.Env) {
	var hb *message.ManagerHeartbeat // all gates share its lists: what is sent never changes
	for _, l := range m.gates.All() {
		if l.Stands {
			if hb == nil {
				hb = m.heartbeat(env)
			}
			m.beat(env, l, hb)
		}
	}
}

// beat sends a gate a heartbeat under the next sequence of its stream.
func (m *Machine) beat(env node.Env, l *uplink.Link, hb *message.ManagerHeartbeat) {
	l.Sequence++
	if sent := m.sent[l.Stream]; sent != nil {
		sent[l.Sequence%beatsKept] = env.Now()
	}
	own := *hb
	own.Sequence = l.Sequence
	env.Send(l.Stream, &own)
}

// heartbeat says what this datacenter has, and names the subjobs that are owned here
// and whose end is not acknowledged.
func (m *Machine) heartbeat(env node.Env) *message.ManagerHeartbeat {
	hb := &message.ManagerHeartbeat{Datacenter: m.config.Datacenter, Draining: m.draining, LoadFor: m.config.terms().Load()}
	for _, w := range m.roster.All() {
		if !w.Draining {
			hb.WorkerSum++
			hb.CoresTotal += w.Total
			hb.CoresFree += w.Free()
		}
		if hb.Workers == nil {
			hb.Workers = make([]message.WorkerInfo, 0, min(workersListed, m.roster.Len()))
		}
		if len(hb.Workers) < workersListed {
			hb.Workers = append(hb.Workers, message.WorkerInfo{
				Node: string(w.Peer.ID), CoresTotal: w.Total, CoresFree: w.Free(), Incarnation: w.Peer.Incarnation, Draining: w.Draining,
			})
		}
	}
	for _, p := range m.order {
		if p.Stage != subjob.Acknowledged && m.holds(env, p) {
			hb.Subjobs = append(hb.Subjobs, message.SubjobRef{Job: p.Job, Fence: p.Fence, State: p.State})
		}
	}
	slices.SortFunc(hb.Subjobs, func(a, b message.SubjobRef) int { return a.Job.Compare(b.Job) })
	for _, g := range m.config.Gates {
		hb.Gates = append(hb.Gates, string(g))
	}
	slices.Sort(hb.Gates)
	hb.Doubts = m.doubts()
	leader, term, _ := m.group.Election.Leader()
	hb.Leader, hb.Term = string(leader), term
	return hb
}

// doubtsListed bounds those in a heartbeat.
const doubtsListed = 64

// doubts lists the members of the datacenter that are not alive, for people.
func (m *Machine) doubts() []message.MemberInfo {
	var all []message.MemberInfo
	for _, o := range m.group.Swim.Doubted() {
		if len(all) < doubtsListed {
			all = append(all, message.MemberInfo{
				Node: string(o.ID), Addr: string(o.Addr), Role: uint8(o.Role), Incarnation: o.Run(), State: o.State.String(), By: string(o.By),
			})
		}
	}
	return all
}
