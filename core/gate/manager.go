package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// manager is one manager as its heartbeats tell.
type manager struct {
	id          node.ID
	incarnation uint64
	addr        node.Addr
	place       *datacenter
	stream      node.StreamID // 0 between two
	former      node.StreamID // that stood when this one came
	live        bool
	draining    bool
	heard       node.Instant
	sequence    uint64
	total, free uint32
	workerSum   uint32
	workers     []message.WorkerInfo
	doubts      []message.MemberInfo
	subjobs     int       // that it owns
	leader      node.Addr // of its datacenter, as it knows; empty for none
	term        uint64
}

func (m *Machine) onHeartbeat(env node.Env, in *node.Input, h *message.ManagerHeartbeat) {
	if in.From.Role != node.RoleManager {
		m.ignore(env, in, "its sender is no manager")
		return
	}
	if m.refusesSet(env, in, h) {
		return
	}
	mgr := m.managers[in.From.ID]
	if why := cmp.Or(mgr.twin(in.From), m.outlasts(h)); why != "" {
		if h.Sequence == 1 { // told once a stream
			env.Emit(event.PeerRefused{Peer: in.From.ID, Role: node.RoleManager, Reason: why})
		}
		return
	}
	// Sequences begin anew on each stream, and two streams keep no order: what comes on
	// the one before is older, whatever its number.
	if mgr != nil && (in.Stream == mgr.stream && h.Sequence <= mgr.sequence || in.Stream == mgr.former && in.Stream != 0) {
		m.ignore(env, in, "a newer one has arrived")
		return
	}
	if mgr == nil || !mgr.live || mgr.incarnation != in.From.Incarnation || mgr.place.name != h.Datacenter {
		if mgr = m.register(env, in, mgr, h.Datacenter); mgr == nil {
			return
		}
	}
	if mgr.stream != in.Stream {
		mgr.former = mgr.stream
	}
	mgr.stream, mgr.heard, mgr.sequence = in.Stream, env.Now(), h.Sequence
	mgr.draining, mgr.total, mgr.free = h.Draining, h.CoresTotal, h.CoresFree
	mgr.workerSum, mgr.workers = h.WorkerSum, h.Workers
	mgr.doubts, mgr.subjobs = h.Doubts, len(h.Subjobs)
	mgr.leader, mgr.term = node.Addr(h.Leader), h.Term
	if h.WorkerSum >= mgr.place.workers {
		mgr.place.workers, mgr.place.whole = h.WorkerSum, env.Now()
	}
	mgr.place.cores = max(mgr.place.cores, h.CoresTotal)
	env.Send(in.Stream, &message.HeartbeatAck{Sequence: h.Sequence, Subjobs: m.compare(env, mgr, h.Subjobs)})
	m.schedule(env)
}

// twin says why a peer is another one than the manager of its name: a second
// process that was given it, or one that came back without its directory.
func (m *manager) twin(p node.Peer) string {
	switch {
	case m == nil:
	case m.live && (p.Incarnation < m.incarnation || p.Incarnation == m.incarnation && p.Addr != m.addr):
		return fmt.Sprintf("the manager at %s has this name: give the one at %s an --id of its own", m.addr, p.Addr)
	case p.Incarnation < m.incarnation:
		return "it began anew under a name that was known: give it the --data that it had, or another --id"
	}
	return ""
}

// outlasts says why a manager's load could outlast this gate's guard.
func (m *Machine) outlasts(h *message.ManagerHeartbeat) string {
	if most := m.config.terms().Load(); h.LoadFor > most {
		return fmt.Sprintf("load goes on in its datacenter for %v without word of a gate, and this gate waits for %v: give all gates and managers the same --lease", h.LoadFor, most)
	}
	return ""
}

// register makes a manager known, under this incarnation and datacenter.
func (m *Machine) register(env node.Env, in *node.Input, mgr *manager, place string) *manager {
	d := m.known(env, place)
	if d == nil || mgr == nil && len(m.managers) >= m.config.ManagersMax {
		env.Emit(event.Shed{What: "manager", Why: fmt.Sprintf("%s of %q: too many managers or datacenters, or no name", in.From.ID, place)})
		return nil
	}
	if mgr != nil && mgr.place != d {
		m.lose(env, mgr, "moved to datacenter "+place)
		m.forgetManager(mgr)
		mgr = nil
	}
	if mgr == nil {
		mgr = &manager{id: in.From.ID, place: d}
		m.managers[mgr.id] = mgr
		at, _ := slices.BinarySearchFunc(d.managers, mgr.id, func(x *manager, id node.ID) int { return cmp.Compare(x.id, id) })
		d.managers = slices.Insert(d.managers, at, mgr)
	}
	mgr.live, mgr.incarnation, mgr.addr, mgr.sequence, mgr.heard = true, in.From.Incarnation, in.From.Addr, 0, env.Now()
	env.Emit(event.PeerRegistered{Peer: mgr.id, Role: node.RoleManager, Datacenter: place})
	m.watchSilence(env)
	return mgr
}

func (m *Machine) forgetManager(mgr *manager) {
	delete(m.managers, mgr.id)
	mgr.place.managers = slices.DeleteFunc(mgr.place.managers, func(other *manager) bool { return other == mgr })
}

// watchSilence sets the timer to when the first live manager can be lost.
func (m *Machine) watchSilence(env node.Env) {
	first := node.Instant(math.MaxInt64)
	for _, d := range m.places {
		for _, mgr := range d.managers {
			if at := mgr.heard.Add(m.config.ManagerSilence); mgr.live {
				first = min(first, at)
			}
		}
	}
	if first < math.MaxInt64 {
		env.SetTimer(node.Key(node.PartGate, node.GateSilence), max(0, first.Sub(env.Now())))
	}
}

func (m *Machine) onSilence(env node.Env) {
	now := env.Now()
	for _, d := range m.places {
		for _, mgr := range d.managers {
			if mgr.live && now.Sub(mgr.heard) >= m.config.ManagerSilence {
				m.lose(env, mgr, fmt.Sprintf("silent for %v", m.config.ManagerSilence))
			}
		}
	}
	m.watchSilence(env)
}

// lose gives up a manager: what it has not taken up goes to another one.
func (m *Machine) lose(env node.Env, mgr *manager, reason string) {
	if !mgr.live {
		return
	}
	mgr.live, mgr.stream = false, 0
	mgr.place.silent = env.Now()
	env.Emit(event.PeerLost{Peer: mgr.id, Role: node.RoleManager, Reason: reason})
	for _, j := range slices.Clone(m.active) {
		if p := j.subjob(mgr.place.name); p != nil && p.manager == mgr.id {
			m.onManagerLost(env, j, p)
		}
	}
}
