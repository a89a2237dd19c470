package discovery_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/discovery"
	"hyperscale/core/node"
)

func newPool(self node.ID, peers ...node.Addr) *discovery.Pool {
	c := discovery.DefaultPool()
	c.Self = self
	p := discovery.NewPool(c)
	p.Set(peers)
	return p
}

func peersOf(n int) (all []node.Addr) {
	for i := range n {
		all = append(all, node.Addr(fmt.Sprintf("g%d:1", i)))
	}
	return all
}

// A peer that leaves moves only the nodes that began with it; they spread over the others. The order
// of the list does not matter.
func TestAPeerThatLeavesMovesOnlyItsNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peers := peersOf(rapid.IntRange(2, 9).Draw(t, "peers"))
		leaves := rapid.SampledFrom(peers).Draw(t, "leaves")
		rest := slices.DeleteFunc(slices.Clone(peers), func(a node.Addr) bool { return a == leaves })
		mixed := rapid.Permutation(peers).Draw(t, "mixed")
		for i := range 50 {
			self := node.ID(fmt.Sprintf("client-%d-%d", i, rapid.IntRange(0, 99).Draw(t, "run")))
			first := newPool(self, peers...).Order(1)[0]
			if got := newPool(self, mixed...).Order(1)[0]; got != first {
				t.Fatalf("%s begins with %s or %s, by the order of the list", self, first, got)
			}
			if got := newPool(self, rest...).Order(1)[0]; first != leaves && got != first {
				t.Fatalf("%s leaves, and %s moves from %s to %s", leaves, self, first, got)
			}
		}
	})
	begins := map[node.Addr]int{}
	for i := range 900 {
		begins[newPool(node.ID(fmt.Sprintf("c%d", i)), peersOf(3)...).Order(1)[0]]++
	}
	for _, a := range peersOf(3) {
		if n := begins[a]; n < 200 || n > 400 {
			t.Errorf("of 900 nodes %d begin with %s, want about 300", n, a)
		}
	}
}

// world of peers that answer after a time, or fail.
type answers struct {
	now   node.Instant
	pool  *discovery.Pool
	rand  *node.Rand
	takes map[node.Addr]time.Duration // negative: it fails after so long
}

// ask asks a question each 250 ms for some time, and returns how many each peer got and how often the
// preferred one changed.
func (w *answers) ask(length time.Duration) (asked map[node.Addr]int, changes int) {
	asked = map[node.Addr]int{}
	for end := w.now.Add(length); w.now < end; w.now = w.now.Add(250 * time.Millisecond) {
		was := w.pool.Preferred()
		if other, due := w.pool.Another(w.now, w.rand); due {
			w.measure(other)
		}
		a := w.pool.Order(w.now)[0]
		asked[a]++
		w.measure(a)
		if was != "" && w.pool.Preferred() != was {
			changes++
		}
	}
	return asked, changes
}

func (w *answers) measure(a node.Addr) {
	took := w.takes[a]
	at := w.now.Add(max(took, -took))
	if took < 0 {
		w.pool.Failed(at, a)
	} else {
		w.pool.Took(at, a, took+w.rand.Duration(0, took/10))
	}
}

func newAnswers(seed uint64, takes ...time.Duration) *answers {
	w := &answers{now: node.Instant(time.Hour), pool: newPool("c1", peersOf(len(takes))...), rand: node.NewRand(seed, "c1", node.PurposeJitter), takes: map[node.Addr]time.Duration{}}
	for i, d := range takes {
		w.takes[node.Addr(fmt.Sprintf("g%d:1", i))] = d
	}
	return w
}

// share is how many parts of ten of the questions some peer got.
func share(asked map[node.Addr]int, a node.Addr) int {
	sum := 0
	//lint:orderfree a sum
	for _, n := range asked {
		sum += n
	}
	return 10 * asked[a] / sum
}

// Of any peers, nine questions of ten go to the fastest one or to one that is nearly as fast, whichever a
// node begins with. Equal runs have equal orders.
func TestTheFastestPeerAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var takes []time.Duration
		for _, ms := range rapid.SliceOfN(rapid.IntRange(1, 300), 1, 8).Draw(t, "ms") {
			takes = append(takes, time.Duration(ms)*time.Millisecond)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		w, again := newAnswers(seed, takes...), newAnswers(seed, takes...)
		begin := node.Addr(fmt.Sprintf("g%d:1", rapid.IntRange(0, len(takes)-1).Draw(t, "begin")))
		w.pool.Prefer(w.now, begin)
		again.pool.Prefer(again.now, begin)
		w.ask(5 * time.Minute)
		asked, changes := w.ask(2 * time.Minute)
		again.ask(5 * time.Minute)
		if twice, _ := again.ask(2 * time.Minute); fmt.Sprint(asked) != fmt.Sprint(twice) {
			t.Fatalf("equal runs ask %v and %v", asked, twice)
		}
		fast := func(a node.Addr) bool { return w.takes[a]*3 <= slices.Min(takes)*5 }
		of, all := 0, 0 // the fast ones together: a node may leave one of them for another
		//lint:orderfree sums
		for a, n := range asked {
			if all += n; fast(a) {
				of += n
			}
		}
		if !fast(w.pool.Preferred()) || of*10 < all*8 {
			t.Fatalf("after minutes it prefers %s of %v, asked %v", w.pool.Preferred(), w.takes, asked)
		}
		if changes > 2 {
			t.Fatalf("it changed %d times in two minutes: %v", changes, w.takes)
		}
	})
}

// A peer that becomes ten times slower is left within five seconds, and preferred again once it has
// recovered, without more changes than these.
func TestASlowPeerIsLeftAndComesBack(t *testing.T) {
	for seed := range uint64(50) {
		w := newAnswers(seed, 40*time.Millisecond, 10*time.Millisecond, 45*time.Millisecond)
		near := node.Addr("g1:1")
		w.ask(2 * time.Minute)
		if asked, _ := w.ask(time.Minute); share(asked, near) < 9 {
			t.Fatalf("seed %d: asked are %v", seed, asked)
		}
		w.takes[near] = 100 * time.Millisecond
		_, away := w.ask(5 * time.Second)
		if asked, more := w.ask(30 * time.Second); share(asked, near) > 1 || away+more > 2 {
			t.Fatalf("seed %d: five seconds after it became slow: asked %v, %d and %d changes", seed, asked, away, more)
		}
		w.takes[near] = 10 * time.Millisecond
		_, back := w.ask(30 * time.Second)
		if asked, more := w.ask(time.Minute); share(asked, near) < 9 || back+more > 2 {
			t.Fatalf("seed %d: after it recovered: asked %v, %d and %d changes", seed, asked, back, more)
		}
	}
}

// A peer that rejects each question at once attracts none, and gets them back once it serves.
func TestFailuresAreSlow(t *testing.T) {
	for seed := range uint64(20) {
		w := newAnswers(seed, -time.Millisecond, 50*time.Millisecond, 60*time.Millisecond)
		w.pool.Prefer(w.now, "g0:1")
		w.ask(10 * time.Second)
		if asked, _ := w.ask(time.Minute); share(asked, "g0:1") > 1 {
			t.Fatalf("seed %d: a peer that rejects all gets %v", seed, asked)
		}
		w.takes["g0:1"] = time.Millisecond
		w.ask(time.Minute)
		if asked, _ := w.ask(time.Minute); share(asked, "g0:1") < 9 {
			t.Fatalf("seed %d: after it serves again: %v", seed, asked)
		}
	}
}

// Each peer stands in the order once; a peer that left is asked no more.
func TestOrderHasEachPeerOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPool("c1", peersOf(3)...)
		set := peersOf(3)
		now := node.Instant(1)
		r := node.NewRand(rapid.Uint64().Draw(t, "seed"), "c1", node.PurposeJitter)
		a := func() node.Addr { return rapid.SampledFrom(peersOf(9)).Draw(t, "peer") }
		t.Repeat(map[string]func(*rapid.T){
			"set":    func(*rapid.T) { set = peersOf(rapid.IntRange(0, 9).Draw(t, "n")); p.Set(set) },
			"took":   func(*rapid.T) { p.Took(now, a(), time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took"))) },
			"failed": func(*rapid.T) { p.Failed(now, a()) },
			"prefer": func(*rapid.T) { p.Prefer(now, a()) },
			"wait":   func(*rapid.T) { now = now.Add(time.Duration(rapid.IntRange(0, 3600).Draw(t, "s")) * time.Second) },
			"": func(t *rapid.T) {
				if a, due := p.Another(now, r); due && (!slices.Contains(set, a) || a == p.Preferred()) {
					t.Fatalf("it measures %s of %v, preferred is %q", a, set, p.Preferred())
				}
				got := p.Order(now)
				sorted := slices.Sorted(slices.Values(got))
				if !slices.Equal(sorted, slices.Sorted(slices.Values(set))) || len(set) > 0 && !slices.Contains(set, p.Preferred()) {
					t.Fatalf("order %v of %v, preferred is %q", got, set, p.Preferred())
				}
			},
		})
	})
}
