package client_test

import (
	"time"

	"hyperscale/core/client"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

func world(gates ...node.Addr) *nodetest.Env {
	c := client.Default()
	c.Gates = gates
	return worldOf(c)
}

func worldOf(c client.Config) *nodetest.Env {
	return worldOfMachine(func() node.Machine { return client.New(c) })
}

func worldOfMachine(machine func() node.Machine) *nodetest.Env {
	return nodetest.New(nodetest.Config{Self: node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient}, Seed: 1, New: machine})
}

// bounds are small, so that a story reaches them.
func bounds() client.Config {
	c := client.Default()
	c.Gates = []node.Addr{"g1:1", "g2:1", "g3:1"}
	c.Redirects, c.HomesMax = 1, 2
	c.ReachTimeout, c.AskTimeout = 5*time.Second, 40*time.Second
	return c
}

// named knows a name, and gates that an earlier client knew.
func named() client.Config {
	c := client.Default()
	c.Discover, c.Cached = []node.Addr{"dns:g:1"}, []node.Addr{"old1:1", "old2:1"}
	c.ReachTimeout = 10 * time.Second
	return c
}

// exploring prefers the gate that answers fastest.
func exploring() client.Config {
	c := client.Default()
	c.Gates, c.Explore = []node.Addr{"g1:1", "g2:1"}, 10*time.Second
	return c
}
