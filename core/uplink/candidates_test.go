package uplink

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// finder is a role whose peers a test finds for it.
type finder struct {
	links *Links
	find  []node.Addr
	lose  []node.Addr
}

func (f *finder) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		f.links.Start(env)
	case node.InputStreamOpened:
		f.links.Opened(env, in)
	case node.InputStreamBroken:
		f.links.Broken(env, in)
	case node.InputTimer:
		f.links.Fire(env, in.Timer)
	case node.InputNames:
		for _, a := range f.find {
			f.links.Find(env, a)
		}
		for _, a := range f.lose {
			f.links.Lose(env, a)
		}
	}
}

// candidates is a node with one configured manager, whose other addresses are found.
type candidates struct {
	*nodetest.Env
	f *finder
}

func newCandidates() *candidates {
	c := Default()
	c.Group, c.Role = 1, node.RoleManager
	f := &finder{links: New(c, []node.Addr{"m1:1"})}
	w := nodetest.New(nodetest.Config{Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"}, New: func() node.Machine { return f }})
	w.Discard = true
	w.Start()
	return &candidates{w, f}
}

func (c *candidates) find(a ...node.Addr) {
	c.f.find, c.f.lose = a, nil
	c.Names(node.Names{})
}

func (c *candidates) lose(a ...node.Addr) {
	c.f.find, c.f.lose = nil, a
	c.Names(node.Names{})
}

// at returns the link that opens an address; nil if there is none.
func (c *candidates) at(a node.Addr) *Link {
	for _, k := range c.f.links.All() {
		if k.at() == a {
			return k
		}
	}
	return nil
}

// Addresses come and go, streams open to any peer, break and fall silent: a name's addresses have a
// link each, no run of a node has two that stand, no stream leaks, and each closed link opens again.
func TestCandidatesComeAndGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCandidates()
		draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		addrs := []node.Addr{"10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1", "10.0.0.4:1", "w1:1"}
		named := map[node.Addr]bool{}
		opens := append(slices.Clone(addrs), "m1:1")
		t.Repeat(map[string]func(*rapid.T){
			"find": func(*rapid.T) {
				a := addrs[draw("found", len(addrs))]
				c.find(a)
				named[a] = true
			},
			"lose": func(*rapid.T) {
				a := addrs[draw("lost", len(addrs))]
				c.lose(a)
				delete(named, a)
			},
			"opened": func(*rapid.T) {
				if s := c.OpeningTo(opens[draw("to", len(opens))]); len(s) > 0 {
					id := []string{"m1", "m2", "g1"}[draw("who", 3)]
					role := node.RoleManager
					if id == "g1" {
						role = node.RoleGate
					}
					c.Opened(s[0], node.Peer{ID: node.ID(id), Incarnation: uint64(1 + draw("incarnation", 2)), Role: role, Addr: node.Addr(id + ":1")})
				}
			},
			"broken": func(*rapid.T) {
				if k := c.at(opens[draw("of", len(opens))]); k != nil && k.Stream != 0 {
					c.Break(k.Stream, "reset")
				}
			},
			"wait": func(*rapid.T) { c.Advance(time.Duration(draw("s", 40)) * time.Second) },
			"": func(t *rapid.T) {
				streams, runs := 0, map[string]bool{}
				for _, k := range c.f.links.All() {
					if k.Stream != 0 {
						streams++
					}
					if a := k.candidate.at; a != "" && !named[a] && !k.Stands {
						t.Fatalf("a link to %s remains, and no name has it", a)
					}
					if !k.Stands {
						continue
					}
					if k.Addr != k.Peer.Addr && k.candidate.at != "" {
						t.Fatalf("the link to %v has the address %s", k.Peer, k.Addr)
					}
					if run := k.Peer.String(); runs[run] {
						t.Fatalf("two links to %s stand", run)
					} else {
						runs[run] = true
					}
				}
				if open := len(c.Opening()) + len(c.StreamsOf("m1")) + len(c.StreamsOf("m2")) + len(c.StreamsOf("g1")); open != streams {
					t.Fatalf("%d streams, of which links know %d", open, streams)
				}
				for _, a := range addrs {
					if named[a] && a != "w1:1" && c.at(a) == nil {
						t.Fatalf("a name has %s, and no link does", a)
					}
				}
			},
		})
		again := map[*Link]bool{}
		for waited := time.Duration(0); len(again) < len(c.f.links.All()); waited += 100 * time.Millisecond {
			if waited > candidateRest {
				t.Fatalf("after %v only %d of %d addresses are open or were tried again", waited, len(again), len(c.f.links.All()))
			}
			for _, k := range c.f.links.All() {
				if k.Stream != 0 {
					again[k] = true
				}
			}
			c.Advance(100 * time.Millisecond)
		}
	})
}

// An address that never led to a peer is tried less and less often, one that did like a configured
// one. Nodes draw each wait.
func TestWaitsOfCandidates(t *testing.T) {
	for _, c := range []struct {
		known       bool
		least, most time.Duration
	}{{false, candidateMax / 2, candidateMax}, {true, Default().ReconnectMax / 2, Default().ReconnectMax}} {
		w := newCandidates()
		w.find("10.0.0.1:1")
		if c.known {
			w.Opened(w.OpeningTo("10.0.0.1:1")[0], node.Peer{ID: "m2", Incarnation: 1, Role: node.RoleManager, Addr: "m2:1"})
		}
		var waits []time.Duration
		for range 20 {
			w.Break(w.at("10.0.0.1:1").Stream, "refused")
			waited := time.Duration(0)
			for ; w.at("10.0.0.1:1").Stream == 0 && waited <= time.Minute; waited += 10 * time.Millisecond {
				w.Advance(10 * time.Millisecond)
			}
			waits = append(waits, waited)
		}
		last := waits[10:]
		if slices.Min(last) < c.least || slices.Max(last) > c.most+10*time.Millisecond || slices.Min(last) == slices.Max(last) {
			t.Errorf("known %v: it waits %v, want %v to %v, all different", c.known, fmt.Sprint(waits), c.least, c.most)
		}
	}
}

// Two addresses of one node: the first that opened stands, the other is tried again much later, and
// takes over if the first is gone.
func TestASecondAddressOfANodeRests(t *testing.T) {
	c := newCandidates()
	c.find("10.0.0.1:1", "[fd00::1]:1")
	m2 := node.Peer{ID: "m2", Incarnation: 1, Role: node.RoleManager, Addr: "m2:1"}
	c.Opened(c.OpeningTo("[fd00::1]:1")[0], m2)
	c.Opened(c.OpeningTo("10.0.0.1:1")[0], m2)
	if n := len(c.StreamsOf("m2")); n != 1 || c.f.links.To("m2:1") != c.at("[fd00::1]:1") {
		t.Fatalf("%d streams to m2, and the link is %+v", n, c.f.links.To("m2:1"))
	}
	c.lose("[fd00::1]:1")
	if n := len(c.StreamsOf("m2")); n != 1 {
		t.Fatalf("a name has dropped the address of a peer that answers, and %d streams stand", n)
	}
	c.Break(c.StreamsOf("m2")[0], "reset")
	if c.at("[fd00::1]:1") != nil {
		t.Error("no name has the address any more, and its link remains")
	}
	tried := 0
	c.WatchOpen = func(_ node.StreamID, to node.Addr) {
		if to == "10.0.0.1:1" {
			tried++
		}
	}
	c.Advance(candidateRest)
	if tried == 0 {
		t.Error("the other address is not tried")
	}
}
