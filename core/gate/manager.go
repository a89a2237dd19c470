package gate

import (
	"cmp"
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func (m *Machine) onHeartbeat(env node.Env, in *node.Input, h *message.ManagerHeartbeat) {
	if in.From.Role != node.RoleManager {
		ignore(env, in, "its sender is no manager")
		return
	}
	if m.refusesSet(env, in, h) {
		return
	}
	mgr := m.places.Manager(in.From.ID)
	if why := cmp.Or(mgr.Twin(in.From), m.outlasts(h)); why != "" {
		if h.Sequence == 1 { // told once a stream
			env.Emit(event.PeerRefused{Peer: in.From.ID, Role: node.RoleManager, Reason: why})
		}
		return
	}
	if !mgr.Follows(in.Stream, h.Sequence) {
		ignore(env, in, "a newer one has arrived")
		return
	}
	if !mgr.Registered(in.From.Incarnation, h.Datacenter) {
		if mgr = m.register(env, in, mgr, h.Datacenter); mgr == nil {
			return
		}
	}
	mgr.Take(in.Stream, h, env.Now())
	env.Send(in.Stream, &message.HeartbeatAck{Sequence: h.Sequence, Subjobs: m.compare(env, mgr, h.Subjobs)})
	m.schedule(env)
}

// outlasts says why a manager's load could outlast this gate's guard.
func (m *Machine) outlasts(h *message.ManagerHeartbeat) string {
	if most := m.config.terms().Load(); h.LoadFor > most {
		return fmt.Sprintf("load goes on in its datacenter for %v without word of a gate, and this gate waits for %v: give all gates and managers the same --lease", h.LoadFor, most)
	}
	return ""
}

// register makes a manager known, under this incarnation and datacenter.
func (m *Machine) register(env node.Env, in *node.Input, mgr *places.Manager, place string) *places.Manager {
	d, fresh := m.places.Know(place, env.Now())
	if fresh {
		m.remember(env, datacenterPrefix+place, []byte{1})
	}
	if d == nil || mgr == nil && m.places.Full() {
		env.Emit(event.Shed{What: "manager", Why: fmt.Sprintf("%s of %q: too many managers or datacenters, or no name", in.From.ID, place)})
		return nil
	}
	if mgr != nil && mgr.Place != d {
		m.lose(env, mgr, "moved to datacenter "+place)
		m.places.Forget(mgr)
	}
	mgr = m.places.Register(d, in.From, env.Now())
	env.Emit(event.PeerRegistered{Peer: mgr.ID, Role: node.RoleManager, Datacenter: place})
	m.watchSilence(env)
	return mgr
}

// watchSilence sets the timer to when the first live manager can be lost.
func (m *Machine) watchSilence(env node.Env) {
	if first, ok := m.places.FirstLoss(); ok {
		env.SetTimer(node.Key(node.PartGate, node.GateSilence), max(0, first.Sub(env.Now())))
	}
}

func (m *Machine) onSilence(env node.Env) {
	for _, mgr := range m.places.Silent(env.Now()) {
		m.lose(env, mgr, fmt.Sprintf("silent for %v", m.config.ManagerSilence))
	}
	m.watchSilence(env)
}

// lose gives up a manager: what it has not taken up goes to another one.
func (m *Machine) lose(env node.Env, mgr *places.Manager, reason string) {
	if !mgr.Live {
		return
	}
	mgr.Lose(env.Now())
	env.Emit(event.PeerLost{Peer: mgr.ID, Role: node.RoleManager, Reason: reason})
	for _, j := range slices.Clone(m.active) {
		if p := j.Subjob(mgr.Place.Name); p != nil && p.Manager == mgr.ID {
			m.onManagerLost(env, j, p)
		}
	}
}
