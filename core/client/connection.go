package client

import (
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

const addrMax = 255 // bytes of an address that a gate reports

// onGateSet learns the set of gates, by the addresses that they have for each other.
func (m *Machine) onGateSet(env node.Env, in *node.Input, s *message.GateSet) {
	set := make([]node.Addr, 0, len(s.Gates))
	for _, a := range s.Gates {
		if a == "" || len(a) > addrMax {
			ignore(env, in, "it names an empty address, or one above the bound")
			return
		}
		set = append(set, node.Addr(a))
	}
	if len(set) == 0 || len(set) > message.OrdinalMax {
		ignore(env, in, "it names no gate, or more than there can be")
		return
	}
	if m.gates.learn(set) && len(m.config.Discover) > 0 {
		env.Emit(event.GatesKnown{Gates: s.Gates})
	}
}

// onOpened sends all commands that wait for this gate, watches included.
func (m *Machine) onOpened(env node.Env, in *node.Input) {
	g := m.gates.of(in.Stream)
	if g == nil || g.open {
		return
	}
	if in.From.Role != node.RoleGate {
		env.Close(in.Stream)
		m.lost(env, g, "it is a "+in.From.Role.String()+", not a gate: correct --gate", true)
		return
	}
	first := m.gates.probing()
	g.pinged = 0
	m.gates.met = true
	g.open, g.peer, g.failures, g.reason, g.heard = true, in.From, 0, "", env.Now()
	m.gates.current = g
	m.gates.opened(env, g, neededBy(m.commands, g, first))
	for _, c := range slices.Clone(m.commands) {
		switch {
		case c.gate == g:
			m.ask(env, c)
		case first && c.waits():
			m.try(env, c, g)
		}
	}
	if first {
		m.gates.won(env, func(o *connection) bool { return neededBy(m.commands, o, false) })
	}
}

func (m *Machine) onBroken(env node.Env, in *node.Input) {
	if g := m.gates.of(in.Stream); g != nil {
		m.lost(env, g, in.Reason, in.Unfit)
	}
}

// lost moves the gate's commands to other gates. Watches register there again.
func (m *Machine) lost(env node.Env, g *connection, reason string, unfit bool) {
	g.stream, g.open, g.reason, g.unfit = 0, false, reason, 0
	if unfit {
		g.unfit = env.Now()
	}
	m.gates.failed(env, g)
	wait := retry.Backoff{Base: m.config.ReconnectMin, Cap: m.config.ReconnectMax, Kind: retry.Equal}
	g.again = env.Now().Add(wait.Next(env.Rand(node.PurposeJitter), g.failures))
	g.failures++
	env.CancelTimer(node.KeyN(node.PartClient, node.ClientSilence, uint64(g.index)))
	for _, c := range slices.Clone(m.commands) {
		if c.gate == g {
			c.say(g, reason)
			m.next(env, c)
		}
	}
}

// neededBy reports whether a command asks a gate, or waits for the first that answers.
func neededBy(commands []*command, g *connection, probing bool) bool {
	return slices.ContainsFunc(commands, func(c *command) bool { return c.gate == g || probing && c.waits() && !g.open })
}

// onNames follows the addresses behind a name. Commands that wait for a gate ask again.
func (m *Machine) onNames(env node.Env, found *node.Names) {
	m.gates.follow(env, found)
	for _, c := range slices.Clone(m.commands) {
		if c.waits() {
			m.next(env, c)
		}
	}
}

// onPing checks a needed stream for life, and closes others.
func (m *Machine) onPing(env node.Env, g *connection) {
	silent := env.Now().Sub(g.heard)
	switch {
	case g.stream == 0:
		return
	case !neededBy(m.commands, g, m.gates.probing()):
		env.Close(g.stream)
		g.stream, g.open = 0, false
		return
	case silent >= m.config.PingSilence:
		env.Close(g.stream)
		m.lost(env, g, "silent for "+silent.Truncate(time.Second).String(), false)
		return
	case g.open:
		g.ping(env)
	}
	g.watch(env, m.config.PingInterval)
}
