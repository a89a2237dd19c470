package scenarios

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// canaries are worlds that break an invariant on purpose. A swarm plays one in every batch, and
// does not trust a checker that finds nothing there.
func canaries() []stage.Scenario {
	return []stage.Scenario{{
		Name:         "canary",
		Doc:          "A toy receiver obeys any fence, and datagrams arrive late. The checker must see that it acts on a lower fence than before: a batch without that violation proves nothing.",
		Virtual:      time.Minute,
		Least:        time.Second, // too short to break anything: it shows what a failure looks like
		ExpectedLoss: "T3",
		Build:        buildCanary,
	}}
}

func buildCanary(s *stage.Stage) {
	both := []node.ID{"sender", "receiver"}
	for _, id := range both {
		s.Add(sim.Spec{ID: id, Role: node.RoleToy, Place: stage.Datacenter(0), New: func() node.Machine {
			return &gullible{to: s.World.Addr("receiver")}
		}})
	}
	for _, id := range both {
		s.World.Start(id)
	}
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultLate, Value: 300_000, Hold: 2 * time.Second})
}

// gullible sends rising numbers, and takes each one that it receives as an order under that
// fence.
type gullible struct {
	to   node.Addr
	sent uint64
}

// Step implements node.Machine.
func (g *gullible) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart, node.InputTimer:
		if env.Self().ID == "sender" {
			g.sent++
			env.Datagram(g.to, &toy.Ping{Counter: g.sent})
			env.SetTimer(node.Key(node.PartPing, 1), 500*time.Millisecond)
		}
	case node.InputMessage:
		if p, ok := in.Message.(*toy.Ping); ok {
			env.Emit(event.Acted{Shard: message.ShardID{Job: message.JobID{1}}, Fence: message.Fence{JobEpoch: p.Counter, SubjobEpoch: 1, Attempt: 1}})
		}
	}
}
