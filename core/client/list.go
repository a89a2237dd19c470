package client

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onJobList asks the gate for its next page, or the next gate for its first one.
func (m *Machine) onJobList(env node.Env, in *node.Input, l *message.JobList) {
	c := m.of(env, in, l.Request, kindList)
	if c == nil {
		return
	}
	more, err := c.list.Page(l)
	m.settle(c)
	switch {
	case err != nil:
		ignore(env, in, err.Error())
		c.say(c.gate, err.Error())
		m.next(env, c)
	case more:
		m.ask(env, c)
	default:
		m.next(env, c)
	}
}

// listed answers a list of jobs with what the gates have told, if one of them has told all that
// it knows.
func (m *Machine) listed(env node.Env, c *command) bool {
	if c.list == nil || !c.list.Heard() {
		return false
	}
	answer := &message.JobList{Request: m.newRequest(env), Gate: string(env.Self().ID), Gates: m.views(c)}
	answer.Jobs, answer.More = c.list.Jobs()
	answer.Letters = c.list.Letters()
	m.finish(env, c, answer)
	return true
}

// views says of each gate of the group whether it listed its jobs, and why not.
func (m *Machine) views(c *command) (all []message.GateView) {
	for _, a := range m.gates.set() {
		v := message.GateView{Addr: string(a)}
		name, whole := c.list.Gate(v.Addr)
		if v.Node = name; !whole {
			v.Why = "not reached"
			for _, g := range m.gates.all {
				if g.addr != a && g.peer.Addr != a {
					continue
				}
				v.Node = string(g.peer.ID)
				if why := c.saying(g); why != "" {
					v.Why = why
				}
			}
		}
		all = append(all, v)
	}
	return all
}
