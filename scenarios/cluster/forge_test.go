package cluster

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
)

// A liar forges each kind of the catalogue that a gate, a manager or a worker sends, so a kind that is new is
// forged as well.
func TestEachKindIsForged(t *testing.T) {
	s := newCluster(stage.New(stage.Scenario{Name: "liar"}, stage.Options{Seed: 1, Virtual: time.Minute}))
	s.Build(GroupTopology())
	r := node.NewRand(1, "liar", node.PurposeModel)
	forged := map[node.Kind]bool{}
	for _, role := range []node.Role{node.RoleGate, node.RoleManager, node.RoleWorker} {
		for _, k := range KindsOf(role) {
			if m := (Forger{s}).Forge(r, k); m == nil || m.Kind() != k {
				t.Errorf("a %v forges no %s", role, message.Name(k))
			}
			forged[k] = true
		}
	}
	for _, k := range message.Kinds() {
		if from := message.Senders(k); from != 1<<node.RoleClient && from != 1<<node.RoleExecutor && !forged[k] {
			t.Errorf("no liar sends %s", message.Name(k))
		}
	}
}
