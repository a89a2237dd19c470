package manager

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// logbook lists all sizes that a manager reports.
func logbook(m *Machine) string {
	var lines []string
	tell := func(what string, n, bound int) { lines = append(lines, fmt.Sprintln(what, n, bound)) }
	m.Sizes(tell)
	m.Rests(tell)
	slices.Sort(lines) // maps report theirs in any order
	return strings.Join(lines, "")
}

// A manager ignores, and reports once, a message that its sender's role may not send. It closes
// a stream of a role that it does not serve, and refuses a command.
func TestStrangeMessagesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, nil, "w1")
		d.submit(2)
		d.accept("w1")
		var told []event.Ignored
		d.WatchEvent = func(e node.Event) {
			if i, ok := e.(event.Ignored); ok {
				told = append(told, i)
			}
		}
		client := d.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient, Addr: "c1:1"})
		if slices.Contains(d.StreamsOf("c1"), client) {
			t.Fatal("a client's stream stands")
		}
		unmet := d.Accept(node.Peer{ID: "w2", Incarnation: 1, Role: node.RoleWorker, Addr: "w2:1"})
		shard := message.ShardID{Job: message.JobID{1}}
		fence := message.Fence{JobEpoch: 1, SubjobEpoch: 9, Attempt: 9}
		before, want := logbook(d.m), 0
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			switch rapid.IntRange(0, 5).Draw(t, "from") {
			case 0:
				d.Receive(d.gate, rapid.SampledFrom([]node.Message{&message.ShardAccepted{Shard: shard, Fence: fence}, &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: 9, CoresTotal: 4}, &message.ShardResultAck{Shard: shard, Fence: fence}}).Draw(t, "of the gate"))
			case 1:
				d.Receive(d.up["w1"], rapid.SampledFrom([]node.Message{&message.ShardResultAck{Shard: shard, Fence: fence}, &message.HeartbeatAck{Sequence: 9}, &message.SubjobCancel{Job: shard.Job, Fence: fence, State: message.JobCancelled}}).Draw(t, "of the worker"))
			case 2:
				d.Receive(unmet, &message.ShardAccepted{Shard: shard, Fence: fence})
			case 5:
				d.ReceiveDatagram(node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"}, &message.ShardAccepted{Shard: shard, Fence: fence})
			case 4: // of a heartbeat that was never sent, or long ago
				l := d.m.gates.All()[0]
				p := d.m.subjobs[shard.Job]
				ack := &message.HeartbeatAck{Sequence: l.Sequence + 1, Subjobs: []message.SubjobRef{{Job: shard.Job, Fence: p.Fence, State: p.State}}}
				was, until := l.Sequence, p.Deadline
				if rapid.Bool().Draw(t, "old") {
					l.Sequence += beatsKept
					ack.Sequence = was
				}
				d.Receive(d.gate, ack)
				if l.Sequence = was; p.Deadline != until {
					t.Fatalf("an answer to no heartbeat moves the gate's word from %v to %v", until, p.Deadline)
				}
				continue
			case 3:
				d.Discard = false
				d.Command(&message.JobQuery{Request: message.RequestID{Incarnation: 1, Counter: 1}, Job: shard.Job})
				if answer := d.Take(); !strings.Contains(answer, "ask a gate") {
					t.Fatalf("a command is answered with %q", answer)
				}
				d.Discard = true
				continue
			}
			want++
		}
		if after := logbook(d.m); after != before || len(told) != want {
			t.Fatalf("%d messages are told as ignored, want %d; before\n%s\nafter\n%s", len(told), want, before, after)
		}
	})
}

// staff is a simple model of the registered workers.
type staff struct {
	incarnation uint64
	addr        node.Addr
	sequence    uint64
	stream      node.StreamID
}

// A worker's ID belongs to the newest incarnation that registered, at one address. The manager
// refuses a worker of another datacenter and one beyond the bound. It answers every heartbeat,
// and ignores the content of one that is not newer than the last.
func TestWorkersAreToldApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 3).Draw(t, "workers_max")
		d := newDesk(t, func(c *Config) { c.WorkersMax = most })
		known := map[node.ID]*staff{}
		type line struct {
			stream node.StreamID
			peer   node.Peer
		}
		var lines []line
		acked, refused := 0, 0
		d.WatchSend = func(_ node.StreamID, m node.Message) {
			if _, ok := m.(*message.HeartbeatAck); ok {
				acked++
			}
		}
		d.WatchEvent = func(e node.Event) {
			if _, ok := e.(event.PeerRefused); ok {
				refused++
			}
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			if len(lines) == 0 || rapid.IntRange(0, 3).Draw(t, "opens") == 0 {
				id := rapid.SampledFrom([]node.ID{"w1", "w2", "w3", "w4"}).Draw(t, "worker")
				p := node.Peer{ID: id, Incarnation: rapid.Uint64Range(1, 3).Draw(t, "incarnation"), Role: node.RoleWorker, Addr: node.Addr(fmt.Sprint(id, ":", rapid.IntRange(1, 2).Draw(t, "port")))}
				open := d.m.roster.Streams()
				s := d.Accept(p)
				if stands := slices.Contains(d.StreamsOf(id), s); stands != (open < 2*most) {
					t.Fatalf("%d streams of %d workers at most are open, and one more stands: %v", open, most, stands)
				} else if stands {
					lines = append(lines, line{s, p})
				}
				continue
			}
			l := rapid.SampledFrom(lines).Draw(t, "line")
			if !slices.Contains(d.StreamsOf(l.peer.ID), l.stream) {
				continue // a newer one has closed it
			}
			hb := &message.WorkerHeartbeat{
				Datacenter: rapid.SampledFrom([]string{"dc1", "dc1", "dc1", "dc2"}).Draw(t, "datacenter"), Sequence: rapid.Uint64Range(1, 4).Draw(t, "sequence"),
				CoresTotal: 4, CoresFree: uint32(rapid.IntRange(0, 4).Draw(t, "free")),
			}
			w := known[l.peer.ID]
			ok, news := hb.Datacenter == "dc1", false
			switch {
			case !ok:
			case w != nil && w.stream == l.stream:
				news = hb.Sequence > w.sequence
			case w == nil:
				ok = len(known) < most
			default:
				ok = l.peer.Incarnation > w.incarnation || l.peer.Incarnation == w.incarnation && l.peer.Addr == w.addr
			}
			if ok && (w == nil || w.stream != l.stream) {
				w, news = &staff{incarnation: l.peer.Incarnation, addr: l.peer.Addr, stream: l.stream}, true
				known[l.peer.ID] = w
			}
			was := (*roster.Worker)(nil)
			free := uint32(0)
			if was = d.m.roster.Of(l.peer.ID); was != nil {
				free = was.Reported
			}
			acked, refused = 0, 0
			d.Receive(l.stream, hb)
			wantAck, wantRefused := 0, 0
			if ok {
				wantAck = 1
			} else if hb.Sequence == 1 {
				wantRefused = 1
			}
			if news {
				w.sequence, free = hb.Sequence, hb.CoresFree
			}
			got := d.m.roster.Of(l.peer.ID)
			switch {
			case acked != wantAck || refused != wantRefused:
				t.Fatalf("%+v of %+v: answered %d times, refused %d times, want %d and %d", hb, l.peer, acked, refused, wantAck, wantRefused)
			case d.m.roster.Len() != len(known) || (got == nil) != (w == nil):
				t.Fatalf("%d workers are known, want %d", d.m.roster.Len(), len(known))
			case got != nil && (got.Stream != w.stream || got.Sequence != w.sequence || got.Reported != free || got.Peer.Incarnation != w.incarnation || got.Peer.Addr != w.addr):
				t.Fatalf("%s is %+v, want %+v and %d free cores", l.peer.ID, got, w, free)
			}
		}
	})
}

// A manager that is not in the configured set, or whose datacenter names no group, halts at its
// start and gives the reason. It holds nothing, and does nothing else.
func TestRefusedAtTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		reason := ""
		switch rapid.IntRange(0, 2).Draw(t, "wrong") {
		case 1:
			c.Managers, reason = []node.Addr{"m2:1", "m3:1"}, "does not have this manager's own address"
		case 2:
			c.Datacenter, reason = "a/b", "no slash"
		}
		var m *Machine
		env := nodetest.New(nodetest.Config{
			Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
			New:  func() node.Machine { m = New(c); return m },
		})
		env.Start()
		told := env.Take()
		halted := strings.Contains(told, "halt") && strings.Contains(told, reason)
		if halted != (reason != "") || env.Running() == halted {
			t.Fatalf("wrong: %q; it halts: %v, it runs: %v", reason, halted, env.Running())
		}
		if !halted {
			return
		}
		m.settle(env)
		m.Sizes(func(what string, n, _ int) {
			if n != 0 {
				t.Fatalf("it was refused, and %s has %d", what, n)
			}
		})
		m.Rests(func(what string, n, rest int) {
			if n != rest {
				t.Fatalf("it was refused, and %s has %d", what, n)
			}
		})
		m.onStop(env)
		if told := env.Take(); !strings.Contains(told, "halt") {
			t.Fatalf("asked to stop it does not halt: %q", told)
		}
	})
}

// A manager connects to the gates of a later set once a majority of its own tells the very same one.
func TestAManagerFollowsAMajority(t *testing.T) {
	gates := []node.Addr{"g1:1", "g2:1", "g3:1"}
	d := newDesk(t, func(c *Config) { c.Gates = gates })
	other := d.OpeningTo("g2:1")[0]
	d.Opened(other, node.Peer{ID: "g2", Incarnation: 1, Role: node.RoleGate, Addr: "g2:1"})
	links := func() (all []string) {
		for _, l := range d.m.gates.All() {
			all = append(all, string(l.Addr))
		}
		return slices.Sorted(slices.Values(all))
	}
	tell := func(to node.StreamID, version uint64, set ...string) {
		d.Receive(to, &message.HeartbeatAck{Sequence: 1, Set: set, SetVersion: version})
	}
	tell(d.gate, 9, "g1:1", "g8:1", "g9:1")
	tell(d.gate, 1, "g1:1", "g2:1", "g4:1")
	tell(other, 2, "g1:1", "g2:1", "g4:1")
	tell(other, 1, "g1:1", "g2:1", "g5:1")
	if got := links(); !slices.Equal(got, []string{"g1:1", "g2:1", "g3:1"}) {
		t.Fatalf("one gate's word connects it to %v", got)
	}
	tell(other, 1, "g1:1", "g2:1", "g4:1")
	if got := links(); !slices.Equal(got, []string{"g1:1", "g2:1", "g4:1"}) || !slices.Equal(d.m.names, got) {
		t.Fatalf("a majority's word connects it to %v, and it names %v", got, d.m.names)
	}
	d.Advance(time.Second)
	for _, configured := range []struct{ gates, links, follows []string }{
		{[]string{"g3:1", "g2:1", "g1:1"}, []string{"g1:1", "g2:1", "g3:1", "g4:1"}, []string{"g1:1", "g2:1", "g4:1"}},
		{[]string{"g1:1", "g2:1", "g7:1"}, []string{"g1:1", "g2:1", "g7:1"}, []string{"g1:1", "g2:1", "g7:1"}}, // the operator knows better
	} {
		d.Crash()
		gates = nil
		for _, a := range configured.gates {
			gates = append(gates, node.Addr(a))
		}
		d.Start()
		if got := links(); !slices.Equal(got, configured.links) || !slices.Equal(d.m.names, configured.follows) {
			t.Errorf("with %v it starts again with links to %v, and names %v", gates, got, d.m.names)
		}
	}
}
