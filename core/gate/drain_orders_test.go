package gate_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// operator gives orders to three gates and remembers them.
type operator struct {
	*three
	drained map[string]bool
	told    map[node.ID]*message.Drain // the newest order to each manager
	answer  node.Message
}

func newOperator(t *testing.T, rt *rapid.T) *operator {
	o := &operator{three: newThree(t, rt), drained: map[string]bool{}, told: map[node.ID]*message.Drain{}}
	for _, m := range o.gates {
		pass := m.world.WatchSend
		m.world.WatchSend = func(s node.StreamID, msg node.Message) {
			pass(s, msg)
			if d, ok := msg.(*message.Drain); ok {
				for _, id := range []node.ID{"ma", "mb", "mc", "md"} {
					if slices.Contains(m.world.StreamsOf(id), s) {
						o.told[id] = d
					}
				}
			}
			if slices.Contains(m.world.StreamsOf("operator"), s) {
				o.answer = msg
			}
		}
	}
	o.pass(5 * time.Second)
	return o
}

// workers makes two managers of datacenter c report their workers to one gate.
func (o *operator) workers(m *member) {
	for _, id := range []node.ID{"mc", "md"} {
		o.sequence++
		m.world.Receive(o.stream(m, id, node.RoleManager), &message.ManagerHeartbeat{
			Datacenter: "c", Sequence: o.sequence, CoresTotal: 8, CoresFree: 8, WorkerSum: 1, Workers: []message.WorkerInfo{{Node: "c-w1", CoresTotal: 8, CoresFree: 8}},
		})
	}
	o.pump()
}

func (o *operator) ask(m *member, q node.Message) node.Message {
	o.answer = nil
	m.world.Receive(o.stream(m, "operator", node.RoleClient), q)
	o.pump()
	return o.answer
}

func (o *operator) id(m *member) message.RequestID {
	m.request++
	return message.RequestID{Incarnation: 1, Counter: m.request}
}

// drains orders one node to drain, through one gate. The order reaches that node, or its
// managers, and no other node.
func (o *operator) drains(t *rapid.T) {
	m := rapid.SampledFrom(o.running()).Draw(t, "gate")
	o.workers(m)
	clear(o.told)
	r := &message.DrainRequest{Request: o.id(m), Node: rapid.SampledFrom([]string{"g1", "g2", "g3", "g1", "g2", "g3", "ma", "c-w1", "nobody"}).Draw(t, "node"), Undo: rapid.Bool().Draw(t, "undo")}
	answer := o.ask(m, r)
	if r.Node == "nobody" {
		if no, ok := answer.(*message.Refused); !ok || no.Code != message.CodeUnreachable || no.Request != r.Request || len(o.told) > 0 {
			t.Fatalf("an order to nobody: %+v, told %v", answer, o.told)
		}
		return
	}
	ack, ok := answer.(*message.DrainAck)
	if !ok || ack.Node != r.Node || ack.Request != r.Request {
		t.Fatalf("%+v: got %+v", r, answer)
	}
	want := map[string][]node.ID{"ma": {"ma"}, "c-w1": {"mc", "md"}}[r.Node]
	if len(o.told) != len(want) {
		t.Fatalf("%+v is told to %v, want %v", r, o.told, want)
	}
	for _, id := range want {
		if d := o.told[id]; d == nil || d.Node != r.Node || d.Undo != r.Undo {
			t.Fatalf("%+v is told to %v as %+v", r, id, d)
		}
	}
	via := map[string]string{"ma": "ma", "c-w1": "md"}[r.Node] // the last of its managers
	if want == nil {
		if via = r.Node; r.Node == m.name {
			via = ""
		}
		o.drained[r.Node] = !r.Undo
	}
	if ack.Via != via {
		t.Fatalf("%+v went by %q, want %q", r, ack.Via, via)
	}
}

// restarts crashes a gate, which must remember its order.
func (o *operator) restarts(t *rapid.T) {
	m := rapid.SampledFrom(o.gates).Draw(t, "gate")
	o.depart(m)
	m.world.Crash()
	m.world.Start()
	o.pump()
	o.pass(30 * time.Second)
}

// looks asks each gate for its view of the cluster. It must match the orders and the leases'
// events.
func (o *operator) looks(t *rapid.T) {
	o.pass(15 * time.Second) // gossip, and handover
	all := 0
	for _, name := range []string{"g1", "g2", "g3"} {
		if o.drained[name] {
			all++
		}
	}
	for _, m := range o.gates {
		s, ok := o.ask(m, &message.ClusterQuery{Request: o.id(m)}).(*message.ClusterStatus)
		if !ok || s.Gate != m.name || s.Draining != o.drained[m.name] || len(s.Gates) != 3 || s.Standing != "member" || s.Alarms != 0 || len(s.Warnings) != 0 {
			t.Fatalf("%s, drained %v: %+v", m.name, o.drained, s)
		}
		if len(s.Members) != 3 || s.MemberSum != 3 {
			t.Fatalf("%s lists %d members, %+v", m.name, s.MemberSum, s.Members)
		}
		for i, x := range s.Members {
			name := fmt.Sprintf("g%d", i+1)
			if x.Addr != name+":1" || x.Node != name || x.State != "alive" || x.Draining != o.drained[name] {
				t.Fatalf("%s, drained %v, lists %+v", m.name, o.drained, x)
			}
		}
		held := map[message.JobID]bool{}
		rest := false
		for _, l := range s.Leases {
			if held[l.Job] {
				t.Fatalf("%s lists the lease of %v twice", m.name, l.Job)
			}
			held[l.Job] = true
			if rest && l.Holder != "" {
				t.Fatalf("%s lists leases that are held behind others: %+v", m.name, s.Leases)
			}
			rest = rest || l.Holder == ""
			if l.Holder != "" && (l.Released || l.Left <= 0 || l.Holder != string(o.holders[l.Job])+":1") {
				t.Fatalf("%s lists %+v, the lease is granted to %s", m.name, l, o.holders[l.Job])
			}
			if all < 3 && l.Holder != "" && o.drained[l.Holder[:2]] {
				t.Fatalf("%s is drained and still holds %v", l.Holder, l.Job)
			}
			if l.State == message.JobNone || l.Name != "test" || l.Missing > 0 && l.Holder == m.name+":1" {
				t.Fatalf("%s lists %+v", m.name, l)
			}
		}
		if int(s.LeaseSum) != len(s.Leases) {
			t.Fatalf("%d leases of %d", len(s.Leases), s.LeaseSum)
		}
		//lint:orderfree any job that is missing fails
		for id := range o.acked {
			if !held[id] && o.holders[id] != "" {
				t.Fatalf("%s lists no lease of %v, which %s holds", m.name, id, o.holders[id])
			}
		}
	}
}

// TestOrdersReachTheirNodes: a drain order reaches exactly the node that it names, and the
// answer says through which node. A drained gate says so to all gates, also after a restart,
// and owns no job once another gate may own it. A list of the cluster shows nothing else.
func TestOrdersReachTheirNodes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := newOperator(t, rt)
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0, 1:
				o.submits(rt)
				o.pass(3 * time.Second)
			case 2:
				o.restarts(rt)
			case 3:
				o.looks(rt)
			default:
				o.drains(rt)
				o.pass(time.Second)
			}
		}
		o.looks(rt)
	})
}
