package client

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/core/ring"
)

// twinGates records all that a client learns, and computes each answer from the start.
type twinGates struct {
	addrs   []node.Addr
	set     []node.Addr
	current node.Addr
	failing map[node.Addr]bool
	told    []owner // the oldest first: one for each job
}

type owner struct {
	job  message.JobID
	gate node.Addr
}

// order lists the owner, the ring's order, the gate that opened last, then all; those that fail
// behind the others.
func (w *twinGates) order(job message.JobID) (all []node.Addr) {
	if job != (message.JobID{}) {
		for _, o := range w.told {
			if o.job == job {
				all = append(all, o.gate)
			}
		}
		if w.set != nil {
			all = append(all, ring.New(slices.Compact(slices.Sorted(slices.Values(w.set)))).Order(job)...)
		}
	}
	all = append(append(all, w.current), w.addrs...)
	var up, down []node.Addr
	for _, a := range all {
		switch {
		case !slices.Contains(w.addrs, a) || slices.Contains(up, a) || slices.Contains(down, a):
		case w.failing[a]:
			down = append(down, a)
		default:
			up = append(up, a)
		}
	}
	return append(up, down...)
}

// A client asks the gates in the model's order, for any reports of gates and owners. It
// remembers as many gates and owners as its bounds allow.
func TestGatesAreAskedInTheTwinsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Gates: []node.Addr{"g0", "g1"}, GatesMax: rapid.IntRange(2, 6).Draw(t, "gates"), HomesMax: rapid.IntRange(1, 3).Draw(t, "homes")}
		g := newGates(c)
		w := &twinGates{addrs: slices.Clone(c.Gates), current: "g0", failing: map[node.Addr]bool{}}
		addr := rapid.Custom(func(t *rapid.T) node.Addr { return node.Addr(fmt.Sprintf("g%d", rapid.IntRange(0, 7).Draw(t, "n"))) })
		know := func(a node.Addr) bool {
			if !slices.Contains(w.addrs, a) && len(w.addrs) < c.GatesMax {
				w.addrs = append(w.addrs, a)
			}
			return slices.Contains(w.addrs, a)
		}
		t.Repeat(map[string]func(*rapid.T){
			"learn": func(t *rapid.T) {
				set := rapid.SliceOfN(addr, 1, 4).Draw(t, "set")
				g.learn(set)
				same := w.set != nil && slices.Equal(ring.New(slices.Compact(slices.Sorted(slices.Values(w.set)))).Members(), slices.Compact(slices.Sorted(slices.Values(set))))
				if w.set = set; !same {
					for _, a := range slices.Sorted(slices.Values(set)) {
						know(a)
					}
				}
			},
			"redirect": func(t *rapid.T) {
				job, a := message.JobID{rapid.ByteRange(0, 4).Draw(t, "job")}, addr.Draw(t, "owner")
				to := g.at(a)
				if is := know(a); is != (to != nil) {
					t.Fatalf("the way to %s is known: %v, want %v of %v", a, to != nil, is, w.addrs)
				}
				if to == nil {
					return
				}
				g.remember(job, to)
				if at := slices.IndexFunc(w.told, func(o owner) bool { return o.job == job }); at >= 0 {
					w.told[at].gate = a
				} else if job != (message.JobID{}) {
					w.told = append(w.told, owner{job, a})
				}
				w.told = w.told[max(0, len(w.told)-c.HomesMax):]
			},
			"open": func(t *rapid.T) {
				at := rapid.SampledFrom(g.all).Draw(t, "which")
				at.stream = node.StreamID(at.index + 1)
				at.failures, g.current = 0, at
				w.failing[at.addr], w.current = false, at.addr
				if g.of(at.stream) != at || g.of(0) != nil || g.of(99) != nil {
					t.Fatalf("stream %d is of %v", at.stream, g.of(at.stream))
				}
			},
			"fail": func(t *rapid.T) {
				at := rapid.SampledFrom(g.all).Draw(t, "which")
				at.failures++
				w.failing[at.addr] = true
			},
			"": func(t *rapid.T) {
				job := message.JobID{rapid.ByteRange(0, 5).Draw(t, "asks for")}
				var got []node.Addr
				for _, at := range g.order(job) {
					got = append(got, at.addr)
				}
				if want := w.order(job); !slices.Equal(got, want) {
					t.Fatalf("job %v: asked are %v, want %v", job, got, want)
				}
				if len(g.homes) != len(w.told) || len(g.known) != len(w.told) {
					t.Fatalf("%d owners are remembered, want %d", len(g.homes), len(w.told))
				}
			},
		})
	})
}

// A question about a job goes by its owner and the ring, whichever gate answers fastest; one that any
// gate answers goes to the fastest.
func TestOwnersGoBeforeFastGates(t *testing.T) {
	c := Default()
	c.Gates, c.Explore = []node.Addr{"g1", "g2", "g3"}, time.Hour
	env := nodetest.New(nodetest.Config{Self: node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient}, New: func() node.Machine { return New(c) }})
	env.Discard = true
	g := newGates(c)
	g.start(env)
	g.learn(c.Gates)
	for i, to := range g.all {
		g.pool.Took(env.Now(), to.addr, time.Duration(len(g.all)-i)*100*time.Millisecond)
	}
	env.Oversleep(10 * time.Second)
	g.pool.Took(env.Now(), "g1", time.Second)
	if fast := g.ranked(env, message.JobID{}); fast[0].addr != "g3" {
		t.Errorf("g3 answers fastest, and %s is asked", fast[0].addr)
	}
	for i := range byte(20) {
		job := message.JobID{i + 1}
		g.remember(job, g.all[int(i)%3])
		want := g.order(job)
		if got := g.ranked(env, job); !slices.Equal(got, want) || got[0] != g.all[int(i)%3] {
			t.Fatalf("job %v of %s goes to %s first", job, g.all[int(i)%3].addr, got[0].addr)
		}
	}
}

// TestNearClientsAskNoOtherMachine: what a client must not say in clear text goes to no gate
// elsewhere, also if a gate names it.
func TestNearClientsAskNoOtherMachine(t *testing.T) {
	c := Default()
	c.Gates, c.Near = []node.Addr{"127.0.0.1:9000"}, true
	g := newGates(c)
	g.learn([]node.Addr{"10.0.0.7:9000", "127.0.0.1:9001", "[::1]:9002", "gate-3:9000", "localhost:9003", "127.0.0.1.example:9000"})
	var asked []node.Addr
	for _, to := range g.order(message.JobID{1}) {
		asked = append(asked, to.addr)
	}
	slices.Sort(asked)
	if want := []node.Addr{"127.0.0.1:9000", "127.0.0.1:9001", "[::1]:9002", "localhost:9003"}; !slices.Equal(asked, want) {
		t.Errorf("asks %v, want %v", asked, want)
	}
	if g.at("10.0.0.7:9000") != nil {
		t.Error("it follows a redirect to another machine")
	}
}
