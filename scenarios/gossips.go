package scenarios

import "time"

// gossips are the worlds of toy machines: they measure the simulator itself.
func gossips() []Scenario {
	return []Scenario{{
		Name:    "gossip",
		Doc:     "A thousand toy members probe and gossip by datagrams and do nothing else: the simulator's own speed. Nothing can go wrong in it.",
		Virtual: time.Minute,
		build:   func(s *stage) { AddGossip(s.world, 1000) },
	}}
}
