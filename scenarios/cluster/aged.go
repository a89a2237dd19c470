package cluster

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// aged returns a machine that knows no more than a minor version does: it neither sends nor receives
// kinds and fields that later ones added, and it does not know the versions of its peers before the
// first one that asks for them. Its own version is that of its sim.Spec, so it writes and accepts no
// level above it.
func aged(m node.Machine, minor uint16) node.Machine {
	if minor >= message.Minor {
		return m
	}
	return &agedWrapper{wrapper: wrapper{m}, minor: minor}
}

type agedWrapper struct {
	wrapper
	minor uint16
	in    node.Input
	env   agedEnv
}

// Step implements node.Machine.
func (m *agedWrapper) Step(env node.Env, in *node.Input) {
	m.in = *in
	if in.Message != nil && in.Kind != node.InputCommand {
		if message.Since(in.Message.Kind()) > m.minor {
			return // a node skips what it does not know
		}
		m.in.Message = m.old(in.Message)
	}
	if m.minor == 0 {
		m.in.From.Minor = 0
	}
	m.env = agedEnv{env, m}
	m.Machine.Step(&m.env, &m.in)
}

// old returns a message as this version reads and writes it.
func (m *agedWrapper) old(body node.Message) node.Message {
	if !message.Grown(body.Kind()) {
		return body
	}
	c, _, err := message.Clone(body, nil)
	if err != nil {
		node.Bug("aged: %v", err)
	}
	message.Age(c, m.minor)
	return c
}

type agedEnv struct {
	node.Env
	m *agedWrapper
}

// Send implements node.Network.
func (e *agedEnv) Send(s node.StreamID, body node.Message) {
	if message.Since(body.Kind()) <= e.m.minor {
		e.Env.Send(s, e.m.old(body))
	}
}

// Datagram implements node.Network.
func (e *agedEnv) Datagram(to node.Addr, body node.Message) {
	if message.Since(body.Kind()) <= e.m.minor {
		e.Env.Datagram(to, e.m.old(body))
	}
}
