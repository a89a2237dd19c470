package manager

import (
	"maps"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

const workersListed = 256 // in one heartbeat

// gate is this manager's stream to one gate.
type gate struct {
	number     uint64
	addr       node.Addr
	stream     node.StreamID // zero when there is none
	peer       node.Peer     // zero until it stands
	registered bool          // it has answered a heartbeat
	tries      int
	sequence   uint64
}

func (m *Machine) gateOf(s node.StreamID) *gate {
	for _, g := range m.gates {
		if g.stream == s && s != 0 && g.peer.ID != "" {
			return g
		}
	}
	return nil
}

func (m *Machine) gateBy(id node.ID) *gate {
	for _, g := range m.gates {
		if g.stream != 0 && g.peer.ID == id && id != "" {
			return g
		}
	}
	return nil
}

func (m *Machine) open(env node.Env, g *gate) {
	g.stream = env.Open(g.addr)
	env.SetTimer(node.KeyN(node.PartManager, node.ManagerSilence, g.number), m.config.Silence)
}

func (m *Machine) onOpened(env node.Env, in *node.Input) {
	for _, g := range m.gates {
		if g.stream == in.Stream {
			m.onGateOpened(env, g, in.From)
			return
		}
	}
	if in.From.Role != node.RoleWorker {
		env.Close(in.Stream) // gates are called, clients ask gates
		return
	}
	m.streams[in.Stream] = nil
}

func (m *Machine) onGateOpened(env node.Env, g *gate, from node.Peer) {
	if from.Role != node.RoleGate {
		env.Close(g.stream)
		env.Emit(event.PeerRefused{Peer: from.ID, Role: from.Role, Reason: "it is a " + from.Role.String() + ", not a gate: correct --gates or --seed"})
		m.drop(env, g, "it is no gate")
		return
	}
	g.peer, g.tries, g.sequence = from, 0, 0
	env.SetTimer(node.KeyN(node.PartManager, node.ManagerSilence, g.number), m.config.Silence)
	m.beat(env, g)
	for _, p := range m.order {
		if p.gate == from.ID {
			m.tell(env, p)
		}
	}
}

func (m *Machine) onBroken(env node.Env, in *node.Input) {
	for _, g := range m.gates {
		if g.stream == in.Stream {
			m.drop(env, g, in.Reason)
			return
		}
	}
	m.onWorkerBroken(in)
}

func (m *Machine) onGateSilence(env node.Env, g *gate) {
	if g.peer.ID != "" && !g.registered {
		env.Emit(event.PeerRefused{Peer: g.peer.ID, Role: node.RoleGate, Reason: "it took no heartbeat of this manager, and its log says why: correct --datacenter or --id"})
	}
	env.Close(g.stream)
	m.drop(env, g, "silent for "+m.config.Silence.String())
}

func (m *Machine) drop(env node.Env, g *gate, why string) {
	if g.registered {
		env.Emit(event.PeerLost{Peer: g.peer.ID, Role: node.RoleGate, Reason: why})
	}
	g.stream, g.peer, g.registered = 0, node.Peer{}, false
	env.CancelTimer(node.KeyN(node.PartManager, node.ManagerSilence, g.number))
	wait := min(m.config.ReconnectMin<<min(g.tries, 10), m.config.ReconnectMax)
	g.tries++
	wait = env.Rand(node.PurposeJitter).Duration(wait/2, wait)
	env.SetTimer(node.KeyN(node.PartManager, node.ManagerReconnect, g.number), wait)
}

func (m *Machine) onHeartbeatAck(env node.Env, g *gate, ack *message.HeartbeatAck) {
	if ack.Sequence > g.sequence {
		return // of no heartbeat on this stream
	}
	env.SetTimer(node.KeyN(node.PartManager, node.ManagerSilence, g.number), m.config.Silence)
	if !g.registered {
		g.registered = true
		env.Emit(event.PeerRegistered{Peer: g.peer.ID, Role: node.RoleGate, Datacenter: m.config.Datacenter})
	}
}

// onHeartbeat is also the tick of what waits: slices without cores.
func (m *Machine) onHeartbeat(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerHeartbeat), m.config.Heartbeat)
	m.place(env)
	m.beatAll(env)
}

func (m *Machine) beatAll(env node.Env) {
	for _, g := range m.gates {
		if g.peer.ID != "" {
			m.beat(env, g)
		}
	}
}

// beat tells a gate what this datacenter has, and those of its parts whose end
// it has not acknowledged: what is missing there is not here.
func (m *Machine) beat(env node.Env, g *gate) {
	g.sequence++
	hb := &message.ManagerHeartbeat{Datacenter: m.config.Datacenter, Sequence: g.sequence, Draining: m.draining}
	for _, id := range slices.Sorted(maps.Keys(m.workers)) {
		w := m.workers[id]
		if !w.registered || w.draining {
			continue
		}
		hb.WorkerSum++
		hb.CoresTotal += w.total
		hb.CoresFree += w.free()
		if len(hb.Workers) < workersListed {
			hb.Workers = append(hb.Workers, message.WorkerInfo{Node: string(id), CoresTotal: w.total, CoresFree: w.free()})
		}
	}
	for _, p := range m.order {
		if p.gate == g.peer.ID && !p.acked {
			hb.Parts = append(hb.Parts, message.PartRef{Job: p.job, Fence: p.fence, State: p.state})
		}
	}
	slices.SortFunc(hb.Parts, func(a, b message.PartRef) int { return a.Job.Compare(b.Job) })
	env.Send(g.stream, hb)
}
