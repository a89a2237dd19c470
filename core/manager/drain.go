package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// operator holds what an operator ordered.
type operator struct {
	drains    bool // the manager takes no subjobs
	unwritten bool // the disk did not store the order
}

// onDrainOrder obeys an operator's order, or passes it to the node that it names.
func (m *gateSide) onDrainOrder(env node.Env, d *message.Drain) {
	switch {
	case d.Node != string(env.Self().ID):
		if w := m.roster.Of(node.ID(d.Node)); w.Stands() {
			env.Send(w.Stream, d)
		} else if l := m.group.Links.Peer(node.ID(d.Node)); l != nil {
			env.Send(l.Stream, d)
		}
	case m.operator.drains == !d.Undo || m.stopping:
	case d.Undo:
		m.operator.drains, m.draining = false, false
		m.writeOrder(env)
		m.beatAll(env)
	default:
		m.operator.drains = true
		m.writeOrder(env)
		m.drain(env)
	}
}

// keyDraining exists while an operator drains this manager, so that the order survives a
// restart.
const keyDraining = "draining"

// writeOrder stores an operator's order, or its end, and the gates that this manager follows.
func (m *gateSide) writeOrder(env node.Env) {
	r := node.Record{Key: keyDraining}
	if m.operator.drains {
		r.Value = []byte{1}
	}
	m.writeID++
	env.Store().Put(append([]node.Record{r}, recordGates(m.config.Gates, m.set, m.names)...), m.writeID)
}

// onOrderStored tries again soon if the disk refused the order, or the gates.
func (m *gateSide) onOrderStored(env node.Env, in *node.Input) {
	if in.WriteID == m.writeID {
		m.operator.unwritten = in.Err != nil
	}
	if in.Err != nil {
		env.Emit(event.StoreFailed{What: "whether it is drained, and the gates that it follows", Err: in.Err.Error()})
	}
}

// rewriteOrder writes an order again that the disk refused.
func (m *gateSide) rewriteOrder(env node.Env) {
	if m.operator.unwritten {
		m.operator.unwritten = false
		m.writeOrder(env)
	}
}

func (m *gateSide) drain(env node.Env) {
	m.draining = true
	m.handOver(env)
	m.beatAll(env)
}

// handOver gives each subjob to another connected manager. This manager stops acting for it
// first.
func (m *gateSide) handOver(env node.Env) {
	able := m.successors()
	if len(able) == 0 {
		return
	}
	for i, p := range m.order {
		if m.holds(env, p) && p.Stage != subjob.Acknowledged && m.ledger.Idle(p.Job) {
			m.lapse(env, p)
			m.group.Leases.Transfer(env, p.Job, able[i%len(able)])
		}
	}
}

// drained leaves the group once this manager holds no subjob.
func (m *gateSide) drained(env node.Env) {
	if m.stopping && len(m.subjobs) == 0 && len(m.claims) == 0 && len(m.group.Leases.Held()) == 0 {
		m.depart(env)
	}
}

func (m *gateSide) depart(env node.Env) {
	m.group.Swim.Leave(env)
	env.Halt("")
}

// onLevelOrder obeys a gate that passes on an operator's order, and reports the version of this
// datacenter's managers.
func (m *gateSide) onLevelOrder(env node.Env, s node.StreamID, o *message.LeaseLevel) {
	if o.Raise > 0 {
		m.group.Leases.Raise(env, o.Raise)
	}
	if s != 0 {
		none := message.RequestID{Incarnation: env.Self().Incarnation, Counter: 1} // of no client
		env.Send(s, &message.UpgradeStatus{Request: none, Groups: []message.GroupVersion{m.group.Leases.Version(env)}})
	}
}
