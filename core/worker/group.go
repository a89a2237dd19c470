package worker

import (
	"encoding/binary"

	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// newGroup returns the membership of the datacenter, whose seeds are the managers.
// A worker is a member so that managers see it die before its heartbeats are
// missed; it learns nothing from it for itself.
func newGroup(c Config) *swim.Group {
	g := swim.Default()
	g.Group, g.Seeds = c.Datacenter, c.Managers
	return swim.New(g)
}

// announce tells the group what managers place by.
func (m *Machine) announce() {
	m.group.SetState(stateOf(m.draining || m.stopping, m.free()))
	m.group.Take() // who comes and goes is for managers
}

// stateOf is what a worker says of itself: 1 if it takes nothing new, else 0,
// then its free cores.
func stateOf(draining bool, free int) []byte {
	b := []byte{0}
	if draining {
		b[0] = 1
	}
	return binary.AppendUvarint(b, uint64(free))
}

// halt leaves the group first, so that nobody suspects who ended as asked.
func (m *Machine) halt(env node.Env, reason string) {
	m.group.Leave(env)
	env.Halt(reason)
}
