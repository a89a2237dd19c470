package main

import (
	"context"
	"encoding/binary"
	"maps"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/transport"
	"hyperscale/runtime/view"
)

// TestBadSets: a server warns at its start of the risks of its set of gates or its lease. It
// rejects impossible values, with the figures.
func TestBadSets(t *testing.T) {
	t.Parallel()
	gate := func(args ...string) []string {
		return append([]string{"gate", "--id", "a", "--data", t.TempDir()}, args...)
	}
	own := freeAddresses(t, "gate", 1)["gate-1"]
	run(t, command.ExitUsage, gate("--listen", own, "--lease", "2s", "--quorum-timeout", "500ms")...).
		says(`gate.lease = 2s is too short: lease \* \(1 - 10000 ppm\) - 1ms = 1.979s must be above lease/3 \+ quorum_timeout \+ store_retry = 2.16\S+: .*make the lease longer or gate.quorum_timeout = 500ms shorter`)
	run(t, command.ExitUsage, gate("--listen", own, "--gates", "127.0.0.1:1,127.0.0.1:2")...).
		says("gates = .* must contain this node's own address, " + own)
	run(t, command.ExitUsage, gate("--listen", own, "--gates", own+","+own)...).says("must be named once")
	for _, c := range []struct{ set, warning string }{
		{own, "one gate alone: losing its disk loses what it has acknowledged, and nothing goes on while it is away; three survive the loss of one"},
		{own + ",192.0.2.1:1", "2 gates survive the loss of 0, as 1 would"},
		{own + ",192.0.2.1:1,192.0.2.2:1,192.0.2.3:1", "4 gates survive the loss of 1, as 3 would: one more would make the loss of 2 harmless"},
		{own + ",127.0.0.1:9,192.0.2.1:1", "2 of 3 gates are on host 127.0.0.1: losing that host loses the majority"},
	} {
		p := start(t, gate("--listen", own, "--gates", c.set)...)
		p.await("level=WARN msg=\"" + c.warning)
		p.kill()
	}
	name := strings.Repeat("n", 120)
	run(t, command.ExitUsage, "gate", "--id", name, "--listen", own, "--data", t.TempDir()).says("must have at most 127, as they stand in each datagram: shorten --id or --advertise")
}

// TestSetsThatDiffer: gates that are configured differently do not found anything
// together; both sets are printed, in the log and to probes.
func TestSetsThatDiffer(t *testing.T) {
	t.Parallel()
	at := freeAddresses(t, "gate", 3)
	ports := slices.Sorted(maps.Values(at)) // as sets are printed
	one, two, three := ports[0], ports[1], ports[2]
	at["gate-1"], at["gate-2"] = one, two
	boot := func(id, set string) *process {
		return start(t, "gate", "--id", id, "--listen", at[id], "--data", t.TempDir(), "--admin", "127.0.0.1:0", "--gates", set)
	}
	a, b := boot("gate-1", one+","+two), boot("gate-2", one+","+two+","+three)
	for p, peer := range map[*process]string{a: two, b: one} {
		p.await("level=WARN msg=group-refused .*peer=" + peer + " ours=" + one + "," + two)
		why := get(t, "http://"+p.await(`msg=up .*admin=(\S+)`)+"/readyz")
		for _, want := range []string{peer + " is configured with the set", three, "give both the same one"} {
			if !strings.Contains(why, want) {
				t.Errorf("readyz %q does not say %q", why, want)
			}
		}
	}
	manager := start(t, "manager", "--id", "m", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--datacenter", "here", "--gates", one+","+three)
	a.await("msg=group-refused .*peer=" + manager.await(upLine) + " .*theirs=\"?" + one + ", ?" + three)
}

// forger speaks the protocol as an informed stranger would.
type forger struct {
	t    *testing.T
	wire *transport.Transport
	news chan string
}

func (f *forger) StreamOpened(node.StreamID, node.Peer) {}
func (f *forger) Resolved(node.Names)                   {}

func (f *forger) StreamBroken(_ node.StreamID, _ node.Peer, reason string, _ bool) {
	f.news <- reason
}
func (f *forger) Message(node.Peer, node.StreamID, node.Message) bool { return true }

func forge(t *testing.T, self node.Peer, cluster string) *forger {
	t.Helper()
	sockets, err := transport.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{t: t, news: make(chan string, 16)}
	f.wire = transport.New(transport.Config{Self: self, Cluster: cluster, Environment: "default"}, sockets)
	f.wire.Serve(f)
	t.Cleanup(f.wire.Kill)
	return f
}

// tell says all by datagram and by stream.
func (f *forger) tell(to string, all []node.Message) {
	s := f.wire.Open(node.Addr(to))
	for _, m := range all {
		f.wire.Datagram(node.Addr(to), m)
		f.wire.Send(s, m)
	}
}

// extremes are messages of gates, with every number at its end.
func extremes(group, victim string) []node.Message {
	most := message.LeaseToken{Epoch: math.MaxUint64, Ordinal: math.MaxUint32}
	job := message.JobOf("forged")
	return []node.Message{
		&message.LeaseHail{Group: group, Members: []string{victim}, Standing: 255, Generation: math.MaxUint64, Epoch: math.MaxUint64, Nonce: 1},
		&message.LeaseFrame{Group: group, Gens: []uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64}, Accepts: []message.LeaseAccept{{Job: job, Token: most, Seq: math.MaxUint64}}},
		&message.LeaseFrame{Group: group, Gens: []uint64{0, 0, 0}, Prepares: []message.LeasePrepare{{Job: job, Token: most}}},
		&message.LeaderBeat{Group: group, Term: math.MaxUint64},
		&message.VoteAsk{Group: group, Term: math.MaxUint64, Nonce: 1},
		&message.VoterJoined{Group: group, Nonce: 1, Term: math.MaxUint64},
		&message.SubjobResult{Job: job, Fence: message.Fence{JobEpoch: math.MaxUint64, SubjobEpoch: math.MaxUint64, Attempt: math.MaxUint64}},
		&message.Drain{Node: "gate-1"},
		&message.SwimCompare{Group: group, Incarnation: math.MaxUint64, Members: math.MaxUint32, View: 1},
	}
}

// listOf100000 is a frame that claims so many members of a list.
func listOf100000() []byte {
	body := []byte{0x83, 0xa1, 'g', 0xa5, 'g', 'a', 't', 'e', 's', 0xa1, 'i', 1, 0xa1, 'n', 0xdd, 0, 1, 0x86, 0xa0}
	body = append(body, make([]byte, 100_000)...) // as many elements of a byte
	frame := append([]byte{0, 0, 118}, body...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

// TestForgedGates: forged gates change nothing in a group except its counters. They are of
// another cluster, an older protocol or no set, or use another gate's name. They send extreme
// numbers and a list of a hundred thousand members.
func TestForgedGates(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	g.start("gate-1", "gate-2", "gate-3")
	leader := func() (c view.Cluster) {
		eventually(t, "a leader", patience, func() bool {
			var ok bool
			c, ok = g.status()
			return ok && c.Leader != "" && len(c.Members) == 3 && c.Standing == "member"
		})
		return c
	}
	before, victim := leader(), g.gates["gate-1"]
	everything := extremes("gates", victim)

	other := forge(t, node.Peer{ID: "far", Incarnation: 1, Role: node.RoleGate, Addr: "127.0.0.1:1"}, "other")
	other.tell(victim, everything)
	g.nodes["gate-1"].await(`the peer's (cluster is|digest of protocol version, cluster and environment is) \\"`)
	if why := <-other.news; !strings.Contains(why, `set --cluster to the same name`) {
		t.Errorf("a gate of another cluster was told %q", why)
	}
	stranger := forge(t, node.Peer{ID: "nobody", Incarnation: math.MaxUint64, Role: node.RoleGate, Addr: "127.0.0.1:1"}, "default")
	stranger.tell(victim, everything)
	eventually(t, "what a stranger says is ignored, said twice each", patience, func() bool {
		return metric(t, g.admins["gate-1"], "hyperscale_node_ignored_messages_total") >= 8
	})
	twin := forge(t, node.Peer{ID: "gate-1", Incarnation: math.MaxUint64, Role: node.RoleGate, Addr: node.Addr(g.gates["gate-2"])}, "default")
	twin.tell(victim, everything)
	if why := <-twin.news; !strings.Contains(why, "give each node an --id of its own") {
		t.Errorf("a twin was told %q", why)
	}
	old, err := message.Append(nil, &message.Hello{Major: 0xffff, Cluster: "default", Environment: "default", Node: "old", Incarnation: 1, Role: uint8(node.RoleGate)})
	if err != nil {
		t.Fatal(err)
	}
	hello, err := message.Append(nil, &message.Hello{Major: 1, Cluster: "default", Environment: "default", Node: "wide", Incarnation: 1, Role: uint8(node.RoleGate), Addr: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	framed := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	for name, bytes := range map[string][]byte{"an older protocol": framed(old), "a list of 100,000": append(framed(hello), listOf100000()...)} {
		conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", victim)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(bytes); err != nil {
			t.Fatal(err)
		}
		if err := closedWithin(conn, 5*time.Second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Close() // the other side has
	}
	if got := metric(t, g.admins["gate-1"], "hyperscale_transport_rejected_total"); got < 4 {
		t.Errorf("%v rejections were counted, want at least 4", got)
	}

	after := leader()
	if after.Leader != before.Leader || after.Term != before.Term {
		t.Errorf("leader %s in term %d became %s in term %d", before.Leader, before.Term, after.Leader, after.Term)
	}
	for _, m := range after.Members {
		if m.State != "alive" || m.Draining || m.Incarnation > 2 {
			t.Errorf("%+v", m)
		}
	}
	for id := range g.gates {
		if g.nodes[id].signal(0); !alive(g.nodes[id].cmd.Process.Pid) {
			t.Errorf("%s is gone", id)
		}
	}
	judge(t, filepath.Clean(g.dir))
}
