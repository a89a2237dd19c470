package client

import (
	"slices"

	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// next asks the next gate of this round, or waits before another round. It does not wait for
// what no gate has or knows, as each has answered, nor for further gates if one has listed its jobs.
func (m *Machine) next(env node.Env, c *command) {
	m.unask(c)
	if m.gates.unfit(c.began) {
		m.giveUp(env, c)
		return
	}
	if m.gates.probing() && m.gates.probe(env) {
		c.gate = nil
		c.arm(env, m.config.RetryMin)
		return
	}
	for _, g := range m.gates.ranked(env, c.job) {
		if !slices.Contains(c.tried, g) && g.usable(env.Now()) {
			m.try(env, c, g)
			return
		}
	}
	if c.refusal != nil && c.refusal.Code.Everywhere() && c.seated == nil {
		m.refused(env, c, c.refusal.Code)
		m.finish(env, c, c.refusal)
		return
	}
	if !m.listed(env, c) {
		m.wait(env, c)
	}
}

// try asks a gate, at once or once a stream is open.
func (m *Machine) try(env node.Env, c *command, g *connection) {
	m.unask(c)
	c.gate = g
	c.tried = append(c.tried, g)
	if c.list != nil {
		c.list.Begin()
	}
	switch {
	case g.open:
		m.ask(env, c)
		return
	case g.stream == 0:
		g.connect(env, m.config.PingInterval)
	}
	c.arm(env, m.config.AskRetry)
}

// redirect asks the reported owner of the job, up to Redirects times; else it asks the next
// gate.
func (m *Machine) redirect(env node.Env, c *command, holder node.Addr) {
	if len(holder) > addrMax || c.redirects >= m.config.Redirects {
		m.next(env, c)
		return
	}
	g := m.gates.at(holder)
	if g == nil || g == c.gate {
		m.next(env, c)
		return
	}
	m.gates.remember(c.job, g)
	c.redirects++
	if !g.usable(env.Now()) {
		m.next(env, c)
		return
	}
	m.try(env, c, g)
}

// wait begins another round after a delay from the whole range, so that clients that lost one
// gate do not return together.
func (m *Machine) wait(env node.Env, c *command) {
	m.gates.met = m.gates.met && slices.ContainsFunc(m.gates.all, func(g *connection) bool { return g.open })
	m.gates.recall(env)
	wait := retry.Backoff{Base: m.config.RetryMin, Cap: m.config.RetryMax, Least: m.config.RetryMin}
	d := wait.Next(env.Rand(node.PurposeJitter), c.rounds+1)
	if c.refusal != nil {
		d = max(d, min(c.refusal.RetryAfter, m.config.AskTimeout))
	}
	c.unserve()
	c.gate, c.tried, c.redirects = nil, nil, 0
	c.rounds++
	c.arm(env, d)
}
