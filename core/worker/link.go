package worker

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// link is this worker's stream to one manager. Nothing reconnects by itself: a
// link is closed, opening or standing, and a timer opens it again.
type link struct {
	number     uint64
	addr       node.Addr
	stream     node.StreamID // zero when there is none
	peer       node.Peer     // zero until it stands
	registered bool          // the manager has answered a heartbeat
	tries      int           // since it last stood
	sequence   uint64        // of heartbeats
}

func (m *Machine) linkOf(s node.StreamID) *link {
	for _, l := range m.links {
		if l.stream == s && s != 0 && l.peer.ID != "" {
			return l
		}
	}
	return nil
}

// linkTo returns the standing link to a manager, or nil.
func (m *Machine) linkTo(id node.ID) *link {
	for _, l := range m.links {
		if l.stream != 0 && l.peer.ID == id && id != "" {
			return l
		}
	}
	return nil
}

// open also watches the opening: a stream that neither stands nor breaks is as
// silent as one that stands.
func (m *Machine) open(env node.Env, l *link) {
	l.stream = env.Open(l.addr)
	env.SetTimer(node.KeyN(node.PartWorker, node.WorkerSilence, l.number), m.config.Silence)
}

func (m *Machine) onOpened(env node.Env, in *node.Input) {
	for _, l := range m.links {
		if l.stream != in.Stream {
			continue
		}
		if in.From.Role != node.RoleManager {
			env.Close(l.stream)
			env.Emit(event.PeerRefused{Peer: in.From.ID, Role: in.From.Role, Reason: "it is a " + in.From.Role.String() + ", not a manager: correct --managers or --seed"})
			m.drop(env, l, "it is no manager")
			return
		}
		l.peer, l.tries, l.sequence = in.From, 0, 0
		env.SetTimer(node.KeyN(node.PartWorker, node.WorkerSilence, l.number), m.config.Silence)
		m.beat(env, l)
		for _, x := range m.outbox {
			if x.manager == l.peer.ID {
				m.tell(env, x)
			}
		}
		return
	}
	env.Close(in.Stream) // a worker is nobody's server
}

func (m *Machine) onBroken(env node.Env, in *node.Input) {
	for _, l := range m.links {
		if l.stream == in.Stream {
			m.drop(env, l, in.Reason)
		}
	}
}

func (m *Machine) onSilence(env node.Env, l *link) {
	if l.peer.ID != "" && !l.registered {
		env.Emit(event.PeerRefused{Peer: l.peer.ID, Role: node.RoleManager, Reason: "it took no heartbeat of this worker, and its log says why: correct --datacenter or --id"})
	}
	env.Close(l.stream)
	m.drop(env, l, "silent for "+m.config.Silence.String())
}

// drop forgets the stream and sets the timer that opens the next one.
func (m *Machine) drop(env node.Env, l *link, why string) {
	if l.registered {
		env.Emit(event.PeerLost{Peer: l.peer.ID, Role: node.RoleManager, Reason: why})
	}
	l.stream, l.peer, l.registered = 0, node.Peer{}, false
	env.CancelTimer(node.KeyN(node.PartWorker, node.WorkerSilence, l.number))
	wait := min(m.config.ReconnectMin<<min(l.tries, 10), m.config.ReconnectMax)
	l.tries++
	wait = env.Rand(node.PurposeJitter).Duration(wait/2, wait)
	env.SetTimer(node.KeyN(node.PartWorker, node.WorkerReconnect, l.number), wait)
}

func (m *Machine) onHeartbeatAck(env node.Env, l *link, ack *message.HeartbeatAck) {
	if ack.Sequence > l.sequence {
		return // of no heartbeat on this stream
	}
	env.SetTimer(node.KeyN(node.PartWorker, node.WorkerSilence, l.number), m.config.Silence)
	if !l.registered {
		l.registered = true
		env.Emit(event.PeerRegistered{Peer: l.peer.ID, Role: node.RoleManager, Datacenter: m.config.Datacenter})
	}
}

func (m *Machine) onHeartbeat(env node.Env) {
	env.SetTimer(node.Key(node.PartWorker, node.WorkerHeartbeat), m.config.Heartbeat)
	for _, l := range m.links {
		if l.peer.ID != "" {
			m.beat(env, l)
		}
	}
}

// beat tells a manager what this worker has and runs. It is sent at once where
// cores come free as well, so that what waits for them is not late by a second.
func (m *Machine) beat(env node.Env, l *link) {
	l.sequence++
	env.Send(l.stream, &message.WorkerHeartbeat{
		Datacenter: m.config.Datacenter,
		Sequence:   l.sequence,
		Draining:   m.draining,
		CoresTotal: uint32(len(m.cores)),
		CoresFree:  uint32(m.free()),
		Running:    m.listed(),
	})
}

func (m *Machine) beatAll(env node.Env) {
	for _, l := range m.links {
		if l.peer.ID != "" {
			m.beat(env, l)
		}
	}
}

// listed names what was accepted and whose result is not acknowledged.
func (m *Machine) listed() []message.SliceRef {
	var list []message.SliceRef
	for _, x := range m.ordered() {
		if (x.phase == running || x.phase == ending) && !x.silent {
			list = append(list, message.SliceRef{Slice: x.slice.id, Fence: x.fence})
		}
	}
	for _, x := range m.outbox {
		list = append(list, message.SliceRef{Slice: x.slice.id, Fence: x.fence})
	}
	slices.SortFunc(list, func(a, b message.SliceRef) int { return a.Slice.Compare(b.Slice) })
	return list
}
