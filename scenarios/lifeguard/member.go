package lifeguard

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// Timer kinds of a member, beside those of its group.
const (
	timerBlock uint8 = iota + 1
	timerWake
)

// heldMax bounds the messages that wait at a blocked member, as a socket's buffer does.
const heldMax = 4096

// member belongs to a group and is blocked now and then.
type member struct {
	run   *run
	index int
	group *swim.Group

	blocked  bool
	until    node.Instant // when no further block begins
	messages []node.Input // arrived
	letters  []letter     // the messages that it held back
}

type letter struct {
	to node.Addr
	m  node.Message
}

// wire counts sent messages, and holds them back while the member is blocked.
type wire struct {
	node.Env
	m *member
}

// headerBytes is what a datagram carries besides its message, with names of the
// usual length.
const headerBytes = 44

// Datagram implements node.Network.
func (w wire) Datagram(to node.Addr, m node.Message) {
	if w.m.blocked {
		w.m.letters = append(w.m.letters, letter{to, m})
		return
	}
	w.m.run.outcome.Messages++
	w.m.run.outcome.Bytes += uint64(m.Size() + headerBytes)
	w.Env.Datagram(to, m)
}

// Send implements node.Network.
func (w wire) Send(s node.StreamID, m node.Message) {
	w.m.run.outcome.Messages++
	w.m.run.outcome.Bytes += uint64(m.Size())
	w.Env.Send(s, m)
}

// Step implements node.Machine.
func (m *member) Step(env node.Env, in *node.Input) {
	w := wire{env, m}
	switch {
	case in.Kind == node.InputTimer && in.Timer.Part == node.PartGossip && in.Timer.Kind == timerBlock:
		m.block(env)
	case in.Kind == node.InputTimer && in.Timer.Part == node.PartGossip:
		m.wake(w)
	case !m.blocked || in.Kind == node.InputTimer:
		m.handle(w, in)
	case len(m.messages) < heldMax:
		m.messages = append(m.messages, *in)
	}
}

func (m *member) block(env node.Env) {
	m.blocked = true
	env.SetTimer(node.Key(node.PartGossip, timerWake), m.run.anomaly.D)
}

// wake sends the messages that waited, then reads those that arrived.
func (m *member) wake(w wire) {
	m.blocked = false
	letters, messages := m.letters, m.messages
	m.letters, m.messages = nil, nil
	for _, l := range letters {
		w.Datagram(l.to, l.m)
	}
	for i := range messages {
		m.handle(w, &messages[i])
	}
	if a := m.run.anomaly; a.Kind == Interval && w.Now() < m.until {
		w.SetTimer(node.Key(node.PartGossip, timerBlock), a.I)
	}
}

func (m *member) handle(w wire, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		m.group.Start(w)
		if m.run.blocked[m.index] {
			m.until = w.Now().Add(anomalyAt + intervalFor)
			w.SetTimer(node.Key(node.PartGossip, timerBlock), anomalyAt)
		}
	case node.InputMessage:
		m.group.Receive(w, in)
	case node.InputStreamOpened:
		m.group.Opened(w, in)
	case node.InputStreamBroken:
		m.group.Broken(w, in)
	case node.InputTimer:
		m.group.Fire(w, in.Timer)
	}
	changes := m.group.Take()
	for i := range changes {
		if ch := &changes[i]; ch.Kind == swim.ChangeMember && ch.To == swim.Dead {
			m.run.dies(m.index, ch.Member.ID)
		}
	}
}

// Times of a run.
const (
	anomalyAt   = 5 * time.Second // by then all have begun to probe
	intervalFor = 2 * time.Minute
	settleFor   = 20 * time.Second
)
