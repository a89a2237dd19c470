package transport

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/epoll"
)

// TestPlacesFitTheLimitOfOpenFiles: whatever the limit, what a node takes in leaves descriptors
// for the rest, and clients leave at least as many places to nodes.
func TestPlacesFitTheLimitOfOpenFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Uint64Range(300, 5000), rapid.Uint64()).Filter(func(n uint64) bool { return n >= 300 }).Draw(t, "descriptors")
		l := Limits{Strangers: 1024, Clients: 20_000, Nodes: 20_000}.bounded(n)
		if sum := uint64(l.Strangers + l.Clients + l.Nodes); sum+descriptorsKept > n {
			t.Fatalf("%d of %d descriptors: %+v", sum, n, l)
		}
		if l.Nodes < l.Clients || l.Clients < 1 || l.Strangers < 1 {
			t.Fatalf("%+v of %d descriptors", l, n)
		}
	})
}

// join says Hello in a role.
func join(t *testing.T, h host, id string, role node.Role) net.Conn {
	t.Helper()
	conn, m := dial(t, h), hello(id)
	m.Role = uint8(role)
	if _, err := conn.Write(frame(t, m)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestClientsKeepNoNodeOut: beyond its places a node tells a client why, and takes in other nodes.
// A client that leaves makes room.
func TestClientsKeepNoNodeOut(t *testing.T) {
	h := serve(t, "a", func(c *Config) { c.Limits.Clients, c.Limits.Nodes = 4, 2 })
	refused := func(conn net.Conn, want string) {
		t.Helper()
		r := h.newReader(conn)
		r.limit = message.FrameMax
		for {
			m, err := r.next()
			if err != nil {
				t.Fatalf("%v, want %q", err, want)
			}
			if m, ok := m.(*message.HelloRefused); ok {
				if text := byPeer(m).Error(); !strings.Contains(text, want) || !strings.Contains(text, "ulimit -n") {
					t.Errorf("refused with %q, want %q", text, want)
				}
				return
			}
		}
	}
	first := join(t, h, "c1", node.RoleClient)
	h.ear.want(t, "opened 1 c1#1")
	join(t, h, "c2", node.RoleClient)
	h.ear.want(t, "opened 2 c2#1")
	refused(join(t, h, "c3", node.RoleClient), `its place is "client 3 of 127.0.0.1", the peer wants at most 2 of one address`)
	for i, id := range []string{"w1", "w2"} {
		join(t, h, id, node.RoleWorker)
		h.ear.want(t, fmt.Sprintf("opened %d %s#1", i+3, id))
	}
	refused(join(t, h, "w3", node.RoleWorker), `its place is "node 3", the peer wants at most 2 nodes`)
	_ = first.Close()
	h.ear.want(t, "broken 1")
	join(t, h, "c4", node.RoleClient)
	h.ear.want(t, "opened 5 c4#1")
	//lint:orderfree each by itself
	for id, want := range map[node.ID]string{"c4": "127.0.0.1", "w1": ""} {
		if got, _ := h.ear.sources.Load(id); got != want {
			t.Errorf("who pays for %s is %q, want %q", id, got, want)
		}
	}
	if got := h.Stats(); got.Full != 2 {
		t.Errorf("%+v", got)
	}
}

// TestPlacesOfSources counts by hand: the places of all clients, and those of one address.
func TestPlacesOfSources(t *testing.T) {
	l := Limits{Clients: 4, Nodes: 1}
	c := crowd{sources: map[netip.Addr]int{}}
	a, b, d := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.3")
	for i, step := range []struct {
		from netip.Addr
		ok   bool
	}{{a, true}, {a, true}, {a, false}, {b, true}, {d, true}, {d, false}, {b, false}} {
		if got := c.enter(&l, node.RoleClient, step.from) == nil; got != step.ok {
			t.Errorf("step %d: %v", i, got)
		}
	}
	c.leave(node.RoleClient, a)
	if c.enter(&l, node.RoleClient, b) != nil || len(c.sources) != 3 {
		t.Errorf("a place that is free is not given: %+v", c.sources)
	}
	for addr, want := range map[string]string{"[2001:db8:1:2:3::4]:5": "2001:db8:1:2::", "[::ffff:192.0.2.1]:5": "192.0.2.1"} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := sourceOf(tcp).String(); got != want {
			t.Errorf("the source of %s is %s", addr, got)
		}
	}
}

// TestSourcesTakeTurns: a source with a thousand streams that all wait keeps another from its turn
// for one of them, and its own streams keep their order.
func TestSourcesTakeTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		poller, err := epoll.New()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = poller.Close() }()
		h := &hall{poller: poller}
		sources := make([]source, rapid.IntRange(1, 4).Draw(t, "sources"))
		waiting := make([][]*guest, len(sources))
		turns := make([]int, len(sources)) // of others, since it waits or was served
		t.Repeat(map[string]func(*rapid.T){
			"queue": func(t *rapid.T) {
				at := rapid.IntRange(0, len(sources)-1).Draw(t, "source")
				g := &guest{source: &sources[at]}
				if len(waiting[at]) == 0 {
					turns[at] = 0
				}
				waiting[at] = append(waiting[at], g)
				h.queue(g, hears)
				h.queue(g, says) // it waits already
			},
			"take": func(t *rapid.T) {
				g, why := h.take()
				if g == nil {
					for at := range waiting {
						if len(waiting[at]) > 0 {
							t.Fatalf("no guest has a turn, and %d of source %d wait", len(waiting[at]), at)
						}
					}
					return
				}
				for at := range sources {
					switch {
					case g.source != &sources[at]:
						if turns[at]++; len(waiting[at]) > 0 && turns[at] >= len(sources) {
							t.Fatalf("source %d waits for %d turns of %d others", at, turns[at], len(sources)-1)
						}
					case len(waiting[at]) == 0 || waiting[at][0] != g || why != hears|says:
						t.Fatalf("it is the turn of another guest of source %d", at)
					default:
						waiting[at], turns[at] = waiting[at][1:], 0
					}
				}
			},
		})
	})
}
