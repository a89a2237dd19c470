package cluster

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Lying is what a member does that lies.
type Lying struct {
	Who    node.ID
	Every  time.Duration        // between two lies
	From   time.Duration        // its groups have formed
	Until  time.Duration        // then it is silent
	Forged map[node.Kind]int    // messages of each kind that it has sent
	Quiet  func(node.Kind) bool // kinds that it does not send

	// Victim says which jobs it names. It may end those, or let them run twice.
	Victim func(message.JobID) bool
}

// by reports whether a node is the one that lies; a world without one has no Lying.
func (l *Lying) by(id node.ID) bool { return l != nil && l.Who == id }

// liar is an honest member until it lies. From then on it does none of its work. It sends forged messages of
// all kinds of its role to all nodes that take them, over streams in both directions and as datagrams. Many
// are bent copies of what it hears.
type liar struct {
	honest  node.Machine
	lies    bool
	c       Forger
	lying   *Lying
	role    node.Role
	streams map[node.Addr]node.StreamID // that it opened
	calls   map[node.StreamID]node.Role // that others opened
	heard   map[node.Kind][]node.Message
	turn    int
}

var liarTimer = node.KeyN(node.PartPing, 1, 1<<20)

// heardMax bounds what a liar remembers of each kind.
const heardMax = 8

func newLiar(s *Cluster, role node.Role, honest node.Machine) node.Machine {
	return &liar{
		honest: honest, c: Forger{s}, lying: s.topology.Lies, role: role, streams: map[node.Addr]node.StreamID{}, calls: map[node.StreamID]node.Role{}, heard: map[node.Kind][]node.Message{},
	}
}

// Step implements node.Machine.
func (m *liar) Step(env node.Env, in *node.Input) {
	mine := in.Kind == node.InputTimer && in.Timer == liarTimer
	if m.lies = m.lies || m.c.World.Now() >= m.lying.From; !m.lies && !mine {
		m.honest.Step(env, in)
	}
	switch in.Kind {
	case node.InputStart:
		env.SetTimer(liarTimer, m.lying.Every)
	case node.InputTimer:
		if !mine {
			return
		}
		if m.lies && m.c.World.Now() < m.lying.Until {
			m.lie(env)
		}
		env.SetTimer(liarTimer, m.lying.Every)
	case node.InputMessage:
		k := in.Message.Kind()
		if list := m.heard[k]; len(list) < heardMax {
			m.heard[k] = append(list, in.Message)
		} else {
			list[env.Rand(node.PurposeModel).Int(heardMax)] = in.Message
		}
	case node.InputStreamOpened:
		if m.streams[in.From.Addr] != in.Stream {
			m.calls[in.Stream] = in.From.Role
		}
	case node.InputStreamBroken:
		delete(m.calls, in.Stream)
		maps.DeleteFunc(m.streams, func(_ node.Addr, s node.StreamID) bool { return s == in.Stream })
	case node.InputStop:
		if m.lies {
			env.Halt("")
		}
	}
}

// KindsOf returns the kinds that a role sends.
func KindsOf(role node.Role) []node.Kind {
	return slices.DeleteFunc(slices.Clone(message.Kinds()), func(k node.Kind) bool { return !message.Senders(k).Has(role) })
}

// lie sends one message of the next kind.
func (m *liar) lie(env node.Env) {
	r := env.Rand(node.PurposeModel)
	kinds := KindsOf(m.role)
	kind := kinds[m.turn%len(kinds)]
	m.turn++
	if m.lying.Quiet != nil && m.lying.Quiet(kind) {
		return
	}
	var body message.Body
	if heard := m.heard[kind]; len(heard) > 0 && r.Chance(2, 3) {
		body = m.c.Bend(r, heard[r.Int(len(heard))])
	} else {
		body = m.c.Forge(r, kind)
	}
	if body == nil {
		return
	}
	m.spare(r, reflect.ValueOf(body).Elem())
	if body = sound(body); body == nil {
		return // it has no victim yet, and the kind names one
	}
	m.lying.Forged[kind]++
	if message.Posted(kind) && body.Size() <= message.DatagramBody && r.Chance(1, 2) {
		all := slices.Concat(m.c.Gates, m.c.Managers, m.c.Workers)
		env.Datagram(m.c.World.Addr(all[r.Int(len(all))]), body)
		return
	}
	m.stream(env, r, body)
}

// spare replaces the jobs that are no victims.
func (m *liar) spare(r *node.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			m.spare(r, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			m.spare(r, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			m.spare(r, v.Elem())
		}
	case reflect.Array:
		id, ok := v.Interface().(message.JobID)
		if !ok || m.lying.Victim(id) {
			return
		}
		for range len(m.c.Orders) {
			if id = m.c.someJob(r); m.lying.Victim(id) {
				v.Set(reflect.ValueOf(id))
				return
			}
		}
		v.Set(reflect.ValueOf(message.JobID(r.ID())))
	}
}

// stream sends a message on a stream: one that another node opened, or one to a node that takes calls of
// its role. It sends no client anything: a client believes the gate that it asks.
func (m *liar) stream(env node.Env, r *node.Rand, body message.Body) {
	if r.Chance(1, 2) {
		var open []node.StreamID
		for _, s := range slices.Sorted(maps.Keys(m.calls)) {
			if m.calls[s] != node.RoleClient {
				open = append(open, s)
			}
		}
		if len(open) > 0 {
			env.Send(open[r.Int(len(open))], body)
			return
		}
	}
	var to []node.ID
	if message.Callers(node.RoleGate).Has(m.role) {
		to = append(to, m.c.Gates...)
	}
	if message.Callers(node.RoleManager).Has(m.role) {
		to = append(to, m.c.Managers...)
	}
	if message.Callers(node.RoleWorker).Has(m.role) {
		to = append(to, m.c.Workers...)
	}
	id := to[r.Int(len(to))]
	if id == env.Self().ID {
		return
	}
	addr := m.c.World.Addr(id)
	if m.streams[addr] == 0 {
		m.streams[addr] = env.Open(addr)
	}
	env.Send(m.streams[addr], body)
}
