package worker

import (
	"encoding/binary"

	"hyperscale/core/node"
)

// announce gossips the values by which managers place shards.
func (m *Machine) announce() {
	var b [1 + binary.MaxVarintLen64]byte // called each Step, so without an allocation
	m.group.SetState(appendState(b[:0], m.closed(), m.cores.Free()))
}

// appendState appends the worker's gossip: 1 if it takes nothing new, else 0, then its free
// cores.
func appendState(b []byte, draining bool, free int) []byte {
	taken := byte(0)
	if draining {
		taken = 1
	}
	return binary.AppendUvarint(append(b, taken), uint64(free))
}

// halt leaves the group first, so that no member suspects a node that stopped in order.
func (m *Machine) halt(env node.Env, reason string) {
	m.group.Leave(env)
	env.Halt(reason)
}
