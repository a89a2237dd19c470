package worker

import (
	"encoding/binary"

	"hyperscale/core/node"
)

// announce tells the group what managers place by.
func (m *Machine) announce() {
	var b [1 + binary.MaxVarintLen64]byte // each Step: without an allocation
	m.group.SetState(appendState(b[:0], m.closed(), m.cores.Free()))
}

// appendState appends what a worker says of itself: 1 if it takes nothing new, else 0,
// then its free cores.
func appendState(b []byte, draining bool, free int) []byte {
	taken := byte(0)
	if draining {
		taken = 1
	}
	return binary.AppendUvarint(append(b, taken), uint64(free))
}

// halt leaves the group first, so that no member suspects a node that ended as asked.
func (m *Machine) halt(env node.Env, reason string) {
	m.group.Leave(env)
	env.Halt(reason)
}
