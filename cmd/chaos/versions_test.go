package main

import (
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A register that another run of a node is granted counts as passed, between the versions that those two runs have.
func TestHandoversAreCounted(t *testing.T) {
	var records []checker.Record
	grant := func(at time.Duration, id node.ID, incarnation uint64, group string) {
		records = append(records, checker.Record{At: at, Node: id, Incarnation: incarnation, Event: event.LeaseGranted{Group: group, Job: message.JobID{1}}})
	}
	born := []birth{{"g1", 0, true}, {"g2", 0, false}, {"g3", 0, true}, {"g1", 6, false}}
	grant(1, "g1", 1, "gates")
	grant(2, "g3", 1, "dc-a") // another register
	grant(3, "g1", 1, "gates")
	for _, step := range []struct {
		at          time.Duration
		id          node.ID
		incarnation uint64
		want        handovers
	}{
		{4, "g2", 1, handovers{up: 1}},
		{5, "g1", 1, handovers{up: 1, down: 1}},
		{6, "g1", 2, handovers{up: 2, down: 1}},
		{7, "g2", 1, handovers{up: 2, down: 1, same: 1}},
	} {
		grant(step.at, step.id, step.incarnation, "gates")
		if got := handed(records, born); got != step.want {
			t.Errorf("at %d: %v, want %v", step.at, got, step.want)
		}
	}
}

// Each role has nodes of both versions, and another seed has others.
func TestEachRoleHasBothVersions(t *testing.T) {
	versions := map[node.ID]int{}
	for seed := range uint64(2) {
		c := &cluster{options: options{former: "former"}, shape: broken, dir: t.TempDir(), seed: seed}
		c.plan()
		roles := map[string]int{}
		for _, m := range c.machines {
			if m.former {
				roles[m.role]++
				versions[node.ID(m.name)]++
			}
		}
		if roles["gate"]%3 == 0 || roles["manager"] != 3 || roles["worker"] != 2 {
			t.Errorf("seed %d: of the former version are %v", seed, roles)
		}
	}
	if len(versions) != 13 {
		t.Errorf("%d of 13 nodes are of the former version under one of two seeds: %v", len(versions), versions)
	}
}
