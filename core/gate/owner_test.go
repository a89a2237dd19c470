package gate

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// owner returns a gate whose layers a test calls directly.
func owner() (*nodetest.Env, *Machine) { return ownerOf(Default()) }

func ownerOf(c Config) (*nodetest.Env, *Machine) {
	var m *Machine
	env := nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "g1", Incarnation: 3, Role: node.RoleGate, Addr: "g1:1"}, Seed: 1,
		New: func() node.Machine { m = New(c); return m },
	})
	env.Discard = true
	env.Start()
	env.Advance(10 * time.Second)
	return env, m
}
