package lease

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/lease/seats"
	"hyperscale/core/node"
)

// What a member says of a set that changed is true, whatever is cut, held or crashes: as many members as it says have
// had that set on disk. Once it says that a majority has, the member that lost its seat may run again at any time, with
// its disk: each other one takes the set all the same.
func TestAKnownMajorityKeepsTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{3, 5}).Draw(t, "seats")
		names := []string{"a", "b", "c", "d", "e"}[:n]
		g := newGroup(append(slices.Clone(names), "heir"), small(), rapid.Uint64().Draw(t, "seed"))
		heir, founders := g.members[n], g.members[:n]
		for _, h := range founders {
			h.config.Members = h.config.Members[:n]
			h.begin()
		}
		g.advance(2 * time.Second)

		by := rapid.IntRange(0, n-1).Draw(t, "by")
		seat := (by + rapid.IntRange(1, n-1).Draw(t, "seat")) % n
		leaver := founders[seat]
		next := founders[by].r.Set().Replaced(seat, by, string(heir.self.Addr))
		heir.config.Members = nil
		for _, a := range next.Members {
			heir.config.Members = append(heir.config.Members, node.Addr(a))
		}
		leaver.quiet = rapid.Bool().Draw(t, "leaver is paused")
		if !leaver.quiet {
			leaver.crash(false)
		}
		g.held = func(from, to int, _ node.Message) bool { return leaver.quiet && (from == seat || to == seat) }
		cuts := map[[2]int]bool{}
		g.latency = func(from, to int, _ node.Message) []time.Duration {
			if cuts[[2]int{min(from, to), max(from, to)}] {
				return nil
			}
			return []time.Duration{time.Millisecond}
		}
		if err := founders[by].r.Replace(founders[by], leaver.self.Addr, heir.self.Addr); err != nil {
			t.Fatal(err)
		}

		had := map[*host]bool{}
		known := func() (majority bool) {
			for _, h := range g.members {
				h.start = true
				if set, changed := seats.OnDisk((*disk)(h), h.config.Group); changed && set.Is(next) {
					had[h] = true
				}
				h.start = false
			}
			for _, h := range g.members {
				if h.r == nil || !h.r.Set().Is(next) || !had[h] {
					continue
				}
				k := h.r.Holders()
				if k > len(had) {
					t.Fatalf("%s knows of %d members that have the set on disk, %d have had it", h.name, k, len(had))
				}
				majority = majority || k > n/2
			}
			return majority
		}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"cut", "heal", "disk", "crash", "start", "wait", "wait"}).Draw(t, "what") {
			case "cut":
				a := rapid.IntRange(0, n).Draw(t, "one")
				b := (a + rapid.IntRange(1, n).Draw(t, "other")) % (n + 1)
				cuts[[2]int{min(a, b), max(a, b)}] = true
			case "heal":
				clear(cuts)
			case "disk":
				h := g.members[rapid.IntRange(0, n).Draw(t, "of")]
				h.stuck = !h.stuck
				free(h)
			case "crash":
				if h := g.members[rapid.IntRange(0, n).Draw(t, "who")]; h != leaver {
					h.crash(false)
				}
			case "start":
				if h := g.members[rapid.IntRange(0, n).Draw(t, "who")]; h != leaver && h.r == nil {
					h.begin()
				}
			}
			g.advance(rapid.SampledFrom([]time.Duration{time.Millisecond, 100 * time.Millisecond, 2 * time.Second}).Draw(t, "for"))
			if known() {
				break
			}
		}
		if !known() { // the others come back, the one that leaves does not
			clear(cuts)
			for _, h := range g.members {
				h.stuck = false
				free(h)
				if h != leaver && h.r == nil {
					h.begin()
				}
			}
			for i := 0; i < 100 && !known(); i++ {
				g.advance(100 * time.Millisecond)
			}
			if !known() && len(had) > 0 {
				t.Fatalf("%d members have the set on disk, and none knows a majority after 10 s without a fault", len(had))
			}
			if len(had) == 0 {
				return // the disk of the member that was asked did not take it before a crash
			}
		}

		leaver.quiet = false
		if leaver.r == nil {
			leaver.begin()
		}
		leaver.r.Acquire(leaver, jobN(1), []byte("seed")) // it speaks, so that others tell it the set
		leaver.drain()
		g.advance(rapid.SampledFrom([]time.Duration{0, time.Second, 10 * time.Second}).Draw(t, "it runs before the rest heals"))
		clear(cuts)
		for _, h := range g.members {
			h.stuck = false
			free(h)
			if h.r == nil {
				h.begin()
			}
		}
		g.advance(20 * time.Second)
		for _, h := range g.members {
			if h == leaver {
				if h.r.Speaks() {
					t.Fatalf("%s has lost its seat and is not silent", h.name)
				}
				continue
			}
			if !h.r.Set().Is(next) || !h.r.Speaks() {
				t.Fatalf("%s has the set %v and is %s, though a majority was known to have %v", h.name, h.r.Set(), h.r.Standing(), next)
			}
		}
	})
}

// free lets the writes of a disk that is held no longer end.
func free(h *host) {
	if h.stuck {
		return
	}
	for _, f := range h.pending {
		f()
	}
	h.pending = nil
}
