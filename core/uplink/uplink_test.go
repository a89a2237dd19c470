package uplink

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// caller is a role with two lists: managers, to which it sends its own heartbeats, and peers,
// to which Links sends beats.
type caller struct{ managers, fellows *Links }

func newCaller() *caller {
	up := Default()
	up.Group, up.Role, up.Datacenter, up.Remedy = 1, node.RoleManager, "dc1", "--managers or --seed"
	beside := Default()
	beside.Group, beside.Role, beside.Beats = 2, node.RoleWorker, true
	return &caller{
		managers: New(up, []node.Addr{"m1:1", "m2:1", "m1:1"}),
		fellows:  New(beside, []node.Addr{"w1:1", "w2:1"}),
	}
}

func (c *caller) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		c.managers.Start(env)
		c.fellows.Start(env)
	case node.InputStreamOpened:
		if l, ours := c.managers.Opened(env, in); l != nil {
			l.Sequence++
			env.Send(l.Stream, &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: l.Sequence, CoresTotal: 1})
		} else if !ours {
			c.fellows.Opened(env, in)
		}
	case node.InputStreamBroken:
		if _, ours := c.managers.Broken(env, in); !ours {
			c.fellows.Broken(env, in)
		}
	case node.InputTimer:
		if !c.managers.Fire(env, in.Timer) {
			c.fellows.Fire(env, in.Timer)
		}
	case node.InputMessage:
		c.onMessage(env, in)
	case node.InputCommand: // post it to the address in Group
		if q, ok := in.Message.(*message.FileChunk); ok {
			c.fellows.Post(env, node.Addr(q.Group), q)
		}
	}
}

func (c *caller) onMessage(env node.Env, in *node.Input) {
	if AnswerBeat(env, in) || c.fellows.Receive(env, in) {
		return
	}
	if ack, ok := in.Message.(*message.HeartbeatAck); ok {
		if l := c.managers.Of(in.Stream); l != nil {
			c.managers.Acked(env, l, ack.Sequence)
		}
	}
}

func world(c func() *caller) *nodetest.Env {
	return nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"},
		New:  func() node.Machine { return c() },
	})
}

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		w := world(newCaller)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
	})
}

// Streams open, break and fall silent at random: each address has at most one stream, and none
// for at most the longest wait. An open link has its peer.
func TestOneStreamAnAddress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c *caller
		w := world(func() *caller { c = newCaller(); return c })
		w.Discard = true
		w.Start()
		draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		roles := []node.Role{node.RoleManager, node.RoleManager, node.RoleManager, node.RoleGate}
		peer := func(a node.Addr) node.Peer {
			return node.Peer{ID: node.ID(a[:2]), Incarnation: uint64(1 + draw("incarnation", 3)), Addr: a, Role: roles[draw("role", len(roles))]}
		}
		addrs := []node.Addr{"m1:1", "m2:1"}
		t.Repeat(map[string]func(*rapid.T){
			"opened": func(*rapid.T) {
				a := addrs[draw("to", 2)]
				if s := w.OpeningTo(a); len(s) > 0 {
					w.Opened(s[0], peer(a))
				}
			},
			"broken": func(*rapid.T) {
				if l := c.managers.To(addrs[draw("to", 2)]); l.Stream != 0 {
					w.Break(l.Stream, "reset")
				}
			},
			"acked": func(*rapid.T) {
				if l := c.managers.To(addrs[draw("to", 2)]); l.Stands {
					w.Receive(l.Stream, &message.HeartbeatAck{Sequence: uint64(1 + draw("sequence", 3))})
				}
			},
			"wait": func(*rapid.T) { w.Advance(time.Duration(draw("ms", 6000)) * time.Millisecond) },
			"": func(t *rapid.T) {
				for _, a := range addrs {
					l := c.managers.To(a)
					n := len(w.OpeningTo(a))
					for _, s := range w.StreamsOf(node.ID(a[:2])) {
						if s != l.Stream {
							t.Fatalf("stream %d to %s was forgotten and not closed", s, a)
						}
						n++
					}
					if want := min(1, int(l.Stream)); n != want || l.Stands != (l.Peer.ID != "") || l.Stands && l.Peer.Role != node.RoleManager {
						t.Fatalf("%s has %d streams, link %+v", a, n, *l)
					}
				}
			},
		})
		for _, a := range addrs {
			for waited := time.Duration(0); c.managers.To(a).Stream == 0; waited += time.Millisecond {
				if waited > Default().ReconnectMax {
					t.Fatalf("nobody opens %s again", a)
				}
				w.Advance(time.Millisecond)
			}
		}
	})
}

func TestPostChoosesByItsSize(t *testing.T) {
	var c *caller
	w := world(func() *caller { c = newCaller(); return c })
	w.Start()
	w.Opened(w.OpeningTo("w2:1")[0], node.Peer{ID: "w2", Incarnation: 1, Role: node.RoleWorker, Addr: "w2:1"})
	w.Hidden["BeatAck"], w.Hidden["Beat"] = true, true
	w.Take()
	chunk := func(n int) *message.FileChunk {
		return &message.FileChunk{Group: "w2:1", File: message.FileDigest{1}, Length: 1 << 20, Data: make([]byte, n)}
	}
	over := chunk(PostMax+1).Size() - PostMax - 1 // of the other fields
	for i, want := range []string{"-> w2:1 (datagram) FileChunk ", "-> w2 FileChunk "} {
		size := PostMax + i
		m := chunk(size - over)
		if m.Size() != size {
			t.Fatalf("the message has %d bytes, want %d", m.Size(), size)
		}
		w.Command(m)
		if got := w.Take(); !strings.HasPrefix(got, want) {
			t.Errorf("%d bytes: got %q, want %q", size, got, want)
		}
	}
	w.Break(w.StreamsOf("w2")[0], "reset")
	w.Take()
	w.Command(chunk(PostMax))
	if got := w.Take(); got != "" {
		t.Errorf("without a stream: got %q, want nothing", got)
	}
}

// An answer counts only on the stream of its heartbeat: each stream numbers anew, so a late
// answer from an earlier stream counts nothing.
func TestAnswersOfAFormerStream(t *testing.T) {
	c := newCaller()
	w := nodetest.New(nodetest.Config{Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"}, New: func() node.Machine { return c }})
	w.Start()
	m1 := node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"}
	first := w.OpeningTo("m1:1")[0]
	w.Opened(first, m1)
	l := c.managers.To("m1:1")
	l.Sequence = 7 // as after some heartbeats
	w.Receive(first, &message.HeartbeatAck{Sequence: 7})
	if !l.Registered {
		t.Fatal("the answer to the newest heartbeat does not register")
	}
	w.Break(first, "reset")
	w.Advance(time.Second)
	second := w.OpeningTo("m1:1")[0]
	w.Opened(second, m1)
	if l.Sequence != 1 || l.Registered || c.managers.Of(first) != nil {
		t.Fatalf("on the new stream: sequence %d, registered %v, and the old one stands: %v", l.Sequence, l.Registered, c.managers.Of(first) != nil)
	}
	w.Receive(second, &message.HeartbeatAck{Sequence: 7})
	if l.Registered {
		t.Error("an answer to a heartbeat of the former stream counts on this one")
	}
	w.Receive(second, &message.HeartbeatAck{Sequence: 1})
	if !l.Registered {
		t.Error("the answer to the first heartbeat of this stream does not count")
	}
}

// A peer counts as unreachable after three beats in a row without an answer, also while no stream
// to it is open, and as reachable again with the next answer.
func TestAPeerThatAnswersNoBeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCaller()
		w := world(func() *caller { return c })
		w.Discard = true
		w.Start()
		missed := 0
		l := c.fellows.To("w2:1")
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				if s := w.OpeningTo("w2:1"); len(s) > 0 {
					w.Opened(s[0], node.Peer{ID: "w2", Incarnation: 1, Role: node.RoleWorker, Addr: "w2:1"})
				}
			case 1:
				if l.Stands && rapid.Bool().Draw(t, "breaks") {
					w.Break(l.Stream, "reset")
				}
			case 2:
				if l.Stands {
					w.Receive(l.Stream, &message.BeatAck{Counter: l.Sequence})
					missed = 0
				}
			default:
				w.Advance(Default().Beat)
				missed++
			}
			if l.Answers() != (missed < 3) {
				t.Fatalf("after %d beats without an answer it answers: %v", missed, l.Answers())
			}
		}
	})
}

// A node that was stopped itself blames no peer: their answers wait for it.
func TestAStoppedNodeBlamesNoPeer(t *testing.T) {
	c := newCaller()
	w := world(func() *caller { return c })
	w.Discard = true
	w.Start()
	for range 10 {
		c.fellows.due = w.Now() // as if its timer fired late
		w.Advance(Default().Beat)
	}
	if !c.fellows.To("w2:1").Answers() {
		t.Error("a node whose timers were all late blames its peer")
	}
}
