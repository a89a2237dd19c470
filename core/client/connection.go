package client

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// connection is the way to one gate.
type connection struct {
	index    int
	addr     node.Addr
	stream   node.StreamID // 0 while there is none
	open     bool
	waiting  bool   // for the next try
	failures int    // since it was last open
	reason   string // why there is no stream, in words for people
	heard    node.Instant
	counter  uint64
}

func (m *Machine) gateOf(s node.StreamID) *connection {
	for _, g := range m.gates {
		if g.stream == s && s != 0 {
			return g
		}
	}
	return nil
}

func (m *Machine) connect(env node.Env, g *connection) {
	g.stream, g.heard = env.Open(g.addr), env.Now()
	m.watchSilence(env, g)
}

func (m *Machine) watchSilence(env node.Env, g *connection) {
	env.SetTimer(node.KeyN(node.PartClient, node.ClientSilence, uint64(g.index)), m.config.PingInterval)
}

// onOpened asks everything that waits for this gate, watches included.
func (m *Machine) onOpened(env node.Env, s node.StreamID) {
	g := m.gateOf(s)
	if g == nil || g.open {
		return
	}
	g.open, g.failures, g.reason, g.heard = true, 0, "", env.Now()
	m.current = g.index
	for _, c := range slices.Clone(m.commands) {
		if c.gate == g.index {
			m.ask(env, c)
			m.arm(env, c)
		}
	}
}

func (m *Machine) onBroken(env node.Env, s node.StreamID, reason string) {
	if g := m.gateOf(s); g != nil {
		g.reason = reason
		m.lost(env, g)
	}
}

// lost waits before the next try, longer each time, and lets what can move ask
// the next gate meanwhile.
func (m *Machine) lost(env node.Env, g *connection) {
	g.stream, g.open, g.waiting = 0, false, true
	g.failures++
	bound := m.config.ReconnectMin
	for i := 0; i < g.failures && bound < m.config.ReconnectMax; i++ {
		bound *= 2
	}
	wait := env.Rand(node.PurposeJitter).Duration(m.config.ReconnectMin, min(bound, m.config.ReconnectMax))
	env.CancelTimer(node.KeyN(node.PartClient, node.ClientSilence, uint64(g.index)))
	env.SetTimer(node.KeyN(node.PartClient, node.ClientReconnect, uint64(g.index)), wait)
	for _, c := range slices.Clone(m.commands) {
		if c.gate != g.index {
			continue
		}
		m.unask(c)
		if next := m.elsewhere(c); next != nowhere {
			c.gate = next
			m.try(env, c)
		}
	}
}

// elsewhere returns the next gate that the command may ask. One that is bound to
// its gate stays.
func (m *Machine) elsewhere(c *command) int {
	if c.exposed != nowhere {
		return nowhere
	}
	if home, ok := m.homes[c.job]; ok && home == c.gate {
		return nowhere
	}
	for i := 1; i < len(m.gates); i++ {
		if next := (c.gate + i) % len(m.gates); !c.denied[next] {
			return next
		}
	}
	return nowhere
}

func (m *Machine) onReconnect(env node.Env, g *connection) {
	g.waiting = false
	if m.needed(g) && g.stream == 0 {
		m.connect(env, g)
	}
}

func (m *Machine) needed(g *connection) bool {
	return slices.ContainsFunc(m.commands, func(c *command) bool { return c.gate == g.index })
}

// onPing keeps a stream that is needed known to be alive, and closes others.
func (m *Machine) onPing(env node.Env, g *connection) {
	switch {
	case g.stream == 0:
		return
	case !m.needed(g):
		env.Close(g.stream)
		g.stream, g.open = 0, false
		return
	case env.Now().Sub(g.heard) >= m.config.PingSilence:
		env.Close(g.stream)
		m.lost(env, g)
		return
	case g.open:
		g.counter++
		env.Send(g.stream, &message.ClientPing{Counter: g.counter})
	}
	m.watchSilence(env, g)
}
