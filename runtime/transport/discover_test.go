package transport

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"hyperscale/core/node"
	"hyperscale/runtime/resolve"
)

// nameServer answers queries on loopback from a table of resources by question.
func nameServer(t *testing.T, table map[string][]dnsmessage.ResourceBody) *resolve.Resolver {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	go func() {
		b := make([]byte, 2048)
		for {
			n, from, err := socket.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			q := m.Questions[0]
			bodies, known := table[q.Name.String()+" "+q.Type.String()[4:]]
			if !known {
				m.RCode = dnsmessage.RCodeNameError
			}
			for _, body := range bodies {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 40}, Body: body})
			}
			if out, err := m.Pack(); err == nil {
				_, _ = socket.WriteTo(out, from)
			}
		}
	}()
	r, err := ResolverAt(socket.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	r.Hosts, r.Config.Search = resolve.Hosts{}, nil
	r.Config.Timeout, r.Config.Attempts = time.Second, 1
	return r
}

func a(last byte) dnsmessage.ResourceBody {
	return &dnsmessage.AResource{A: netip.AddrFrom4([4]byte{10, 0, 0, last}).As4()}
}

func srv(host string, port uint16) dnsmessage.ResourceBody {
	return &dnsmessage.SRVResource{Target: dnsmessage.MustNewName(host), Port: port}
}

// What a node learns of a name: all addresses of a host with its port, those of each target of a
// service with the target's, and why there is none.
func TestResolve(t *testing.T) {
	r := nameServer(t, map[string][]dnsmessage.ResourceBody{
		"m.example. A":            {a(1), a(2)},
		"m.example. AAAA":         nil,
		"n.example. A":            {a(2), a(3)},
		"n.example. AAAA":         nil,
		"_m._tcp.example. SRV":    {srv("m.example.", 7501), srv("gone.example.", 7502), srv("n.example.", 7501)},
		"_lost._tcp.example. SRV": {srv("gone.example.", 7502)},
	})
	ear := newEar()
	sockets, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tr := New(Config{Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker}, Cluster: "c", Environment: "e", Resolver: r}, sockets)
	tr.Serve(ear)
	t.Cleanup(tr.Kill)
	for _, test := range []struct {
		name   node.Addr
		want   []node.Addr
		absent bool
		fails  bool
	}{
		{"dns:m.example:7500", []node.Addr{"10.0.0.1:7500", "10.0.0.2:7500"}, false, false},
		{"srv:_m._tcp.example", []node.Addr{"10.0.0.1:7501", "10.0.0.2:7501", "10.0.0.3:7501"}, false, false},
		{"dns:gone.example:7500", nil, true, false},
		{"srv:_gone._tcp.example", nil, true, false},
		{"srv:_lost._tcp.example", nil, true, false},
		{"m.example:7500", nil, false, true},
	} {
		tr.Resolve(test.name)
		select {
		case n := <-ear.names:
			slices.Sort(n.Addrs)
			if n.Name != test.name || !slices.Equal(n.Addrs, test.want) || n.Absent != test.absent || (n.Err != "") != test.fails || n.TTL != 40*time.Second && len(test.want) > 0 {
				t.Errorf("%s: got %+v, want %v, absent %v, fails %v", test.name, n, test.want, test.absent, test.fails)
			}
		case <-time.After(wait):
			t.Fatalf("%s: no outcome", test.name)
		}
	}
}

// The server that an operator names is a number with a port: a name of it would need a resolver.
func TestResolverAt(t *testing.T) {
	for _, wrong := range []string{"", "localhost:53", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000"} {
		if _, err := ResolverAt(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

// Datagrams go where the newest stream of a name leads, if that is one of the addresses that the name has.
func TestDatagramsFollowStreams(t *testing.T) {
	var n names
	n.init()
	const gate = node.Addr("gate-1.example:7400")
	former, stale, fresh := netip.MustParseAddrPort("10.0.0.1:7400"), netip.MustParseAddrPort("10.0.0.2:7400"), netip.MustParseAddrPort("10.0.0.3:7400")
	ask := func(found ...netip.AddrPort) netip.AddrPort {
		t.Helper()
		if at, known, ask := n.find(gate, []byte("b")); known || !ask {
			t.Fatalf("%v is used without a look-up: %v", at, known)
		}
		at, waiting := n.learn(gate, found, nil)
		if len(waiting) != 1 {
			t.Fatalf("%d datagrams have waited, want one", len(waiting))
		}
		if known, is, _ := n.find(gate, nil); !is || known != at {
			t.Fatalf("%v is known (%v), want %v", known, is, at)
		}
		return at
	}
	if at := ask(former); at != former {
		t.Errorf("%v, want the only one", at)
	}
	n.meet(gate, net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.0.0.3:51000")))
	if at := ask(stale, fresh); at != fresh {
		t.Errorf("%v, want the one that the stream leads to", at)
	}
	n.meet(gate, net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.1:51000"))) // of a gateway between
	if at := ask(stale, fresh); at != stale {
		t.Errorf("%v, want the first: none is the stream's", at)
	}
	if left := time.Until(n.known[gate].until); left > nameUnsure {
		t.Errorf("an answer without the stream's address serves for %v, want %v", left, nameUnsure)
	}
	n.meet(gate, net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.0.0.2:51001")))
	if at, known, _ := n.find(gate, nil); !known || at != stale {
		t.Errorf("a stream to %v makes its own address stale (%v)", at, known)
	}
	n.known[gate].until = time.Time{}
	if at, known, asks := n.find(gate, nil); !known || !asks || at != stale {
		t.Errorf("an answer that is old does not serve until the next one: %v, %v, %v", at, known, asks)
	}
	if _, waiting := n.learn(gate, nil, errors.New("no server answers")); len(waiting) > 0 {
		t.Errorf("%d datagrams wait, though all have gone", len(waiting))
	}
	if at, known, asks := n.find(gate, nil); !known || !asks || at != stale {
		t.Errorf("a look-up without an answer ends the last one: %v, %v, %v", at, known, asks)
	}
	n.learn(gate, []netip.AddrPort{stale}, nil)
	n.meet("10.0.0.9:7400", net.TCPAddrFromAddrPort(fresh))
	n.meet("", net.TCPAddrFromAddrPort(fresh))
	if len(n.known) != 1 {
		t.Errorf("%d names are known, want one: addresses and clients have none", len(n.known))
	}
	for i := range 2 * namesMax {
		n.meet(node.Addr(fmt.Sprintf("node-%d.example:7400", i)), net.TCPAddrFromAddrPort(fresh))
	}
	n.find("another.example:7400", nil)
	if len(n.known) != namesMax/2+1 || n.known[gate] == nil {
		t.Errorf("%d names are known, want %d, and %s among them", len(n.known), namesMax/2+1, gate)
	}
}

// Both ends of a stream note where it leads.
func TestStreamsTellWhereNamesLead(t *testing.T) {
	named := func(c *Config) { c.Self.Addr = node.Addr(c.Self.ID) + ".example:7400" }
	a, b := serve(t, "a", named), serve(t, "b", named)
	a.Open(b.addr())
	a.ear.want(t, "opened 1 b#1")
	b.ear.want(t, "opened 1 a#1")
	client := serve(t, "client", func(c *Config) { named(c); c.Self.Role = node.RoleClient })
	client.Open(b.addr())
	b.ear.want(t, "opened 2 client#1")
	for _, h := range []struct {
		host
		peer node.Addr
	}{{a, "b.example:7400"}, {b, "a.example:7400"}} {
		n := &h.datagrams.names
		n.mu.Lock()
		if e := n.known[h.peer]; e == nil || e.met != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("nothing is known of %s, want 127.0.0.1", h.peer)
		}
		if n.known["client.example:7400"] != nil {
			t.Error("a client has a name that datagrams go to")
		}
		n.mu.Unlock()
	}
}

// A datagram goes to the last address of a name whose answer is old, and makes the node ask again.
func TestAnOldAnswerIsAskedForAgain(t *testing.T) {
	a := serve(t, "a", nil)
	const peer = node.Addr("localhost:9")
	n := &a.datagrams.names
	n.mu.Lock()
	n.known[peer] = &name{at: netip.MustParseAddrPort("127.0.0.1:9")}
	n.mu.Unlock()
	a.Datagram(peer, pingOf(1))
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		n.mu.Lock()
		fresh := time.Now().Before(n.known[peer].until)
		n.mu.Unlock()
		if fresh {
			return
		}
		if time.Now().After(end) {
			t.Fatal("an old answer serves for ever")
		}
	}
}
