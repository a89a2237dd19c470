package lease

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// shelves is a group of three with many registers, small pages and small writes. The third
// member takes part in a majority only through its stored state.
func shelves(t *rapid.T, page, put, jobs, size int) *group {
	c := small()
	c.PageRegisters, c.PutRecords, c.RecordMax = page, put, RecordMax
	g := newGroup([]string{"a", "b", "c"}, c, rapid.Uint64().Draw(t, "seed"))
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	a := g.members[0]
	for n := 1; n <= jobs; n++ {
		a.r.Acquire(a, jobN(n), []byte{byte(n)})
	}
	g.advance(time.Second)
	for n := 1; n <= jobs; n++ {
		a.r.Update(a, jobN(n), bytes.Repeat([]byte{byte(n)}, size), 1)
	}
	g.advance(time.Second)
	for n := 3; n <= jobs; n += 4 {
		a.r.Release(a, jobN(n))
	}
	g.advance(time.Second)
	for n := 3; n <= jobs; n += 8 {
		for _, h := range g.members {
			h.r.Forget(h, jobN(n))
		}
	}
	g.advance(time.Second)
	return g
}

// stock lists what an acceptor must not lose of its registers.
func stock(h *host) []string {
	var all []string
	for reg := range h.r.following(message.JobID{}) {
		a := &reg.accepted
		all = append(all, fmt.Sprintf("%v promised %v accepted %v released %v reaped %v record %x", reg.job, reg.promised, a.Token, a.Released, reg.reaped, Value(a.Record)))
	}
	return all
}

func same(t *rapid.T, when string, got, want *host) {
	t.Helper()
	g, w := stock(got), stock(want)
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s: %d registers, want %d; the first that differs is number %d: %q, want %q", when, len(g), len(w), i, at(g, i), at(w, i))
		}
	}
}

func at(s []string, i int) string {
	if i < len(s) {
		return s[i]
	}
	return "none"
}

// A member without its disk takes over every register of every page. Every batch of them is on
// its new disk before it answers. A crash in between leaves it silent.
func TestAJoinTakesEveryPageAndWritesEveryBatch(t *testing.T) {
	pages, batches := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		page, put := rapid.IntRange(1, 4).Draw(t, "page"), rapid.IntRange(1, 4).Draw(t, "put")
		jobs := rapid.IntRange(1, 14).Draw(t, "jobs")
		g := shelves(t, page, put, jobs, 8)
		a, c := g.members[0], g.members[2]
		noise := rapid.Uint64Range(1, 1000).Draw(t, "noise")
		g.latency = func(from, to int, m node.Message) []time.Duration {
			if s, ok := m.(*message.LeaseJoinState); ok && s.More {
				pages++
			}
			switch noise = noise*6364136223846793005 + 1; noise >> 60 {
			case 0, 1:
				return nil
			case 2:
				return []time.Duration{time.Millisecond, 40 * time.Millisecond} // the second copy repeats a page that the member has taken
			}
			return []time.Duration{time.Millisecond}
		}
		g.disk = func() time.Duration { return 3 * time.Millisecond }
		c.crash(true)
		c.begin()
		for range rapid.IntRange(0, 6).Draw(t, "crashes") {
			g.advance(time.Duration(rapid.IntRange(0, 900).Draw(t, "ms")) * time.Millisecond)
			for range 2000 * rapid.IntRange(0, 1).Draw(t, "between two batches") {
				if g.advance(time.Millisecond); c.r.Speaks() || len(c.records) > 1 {
					break
				}
			}
			if !c.r.Speaks() && len(c.records) > 0 {
				batches++
			}
			c.crash(false)
			c.begin()
			if c.r.Speaks() {
				same(t, "it speaks after a crash", c, a)
			}
		}
		g.advance(8 * time.Second)
		if !c.r.Speaks() {
			t.Fatal("it has not joined")
		}
		same(t, "it has joined", c, a)
		c.crash(false)
		c.begin()
		same(t, "it has restarted from its new disk", c, a)
	})
	if pages == 0 || batches == 0 {
		t.Errorf("%d pages had others after them, %d crashes fell between two batches: this test looks away", pages, batches)
	}
}

// Bytes bound pages, too: 60 registers of 60 KiB are four frames and more.
func TestAJoinTakesPagesOfLargeRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := shelves(t, pageMax, putMax, 20, 60<<10)
		a, c := g.members[0], g.members[2]
		more := 0
		g.held = func(_, _ int, m node.Message) bool {
			if s, ok := m.(*message.LeaseJoinState); ok && s.More {
				more++
			}
			return false
		}
		c.crash(true)
		c.begin()
		g.advance(5 * time.Second)
		same(t, "it has joined", c, a)
		if more == 0 {
			t.Fatal("all registers fit one page")
		}
	})
}

// A member deletes in batches what it must forget before it joins, and deletes all of it.
func TestABlankDiskIsErasedWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := shelves(t, 4, rapid.IntRange(1, 4).Draw(t, "put"), 9, 8)
		c := g.members[2]
		c.crash(false)
		c.records["lease/gates/member"] = []byte("{") // torn: the member believes none of it
		for _, h := range g.members[:2] {
			h.crash(false)
		}
		c.begin()
		g.advance(3 * time.Second)
		if len(c.records) != 0 {
			t.Fatalf("%d records are left: %v", len(c.records), slices.Sorted(maps.Keys(c.records)))
		}
	})
}

// A member remembers a tombstone for TombstoneAge, counted again after a restart, and not much
// longer: in memory and on the disk.
func TestTombstonesEnd(t *testing.T) {
	for _, restart := range []bool{false, true} {
		c := small()
		c.TombstoneAge = 80 * time.Second
		g := newGroup([]string{"a", "b", "c"}, c, 1)
		for _, h := range g.members {
			h.begin()
		}
		g.advance(time.Second)
		a := g.members[0]
		for n := 1; n <= 3; n++ {
			a.r.Acquire(a, jobN(n), []byte("one"))
		}
		g.advance(time.Second)
		for n := 1; n <= 3; n++ {
			a.r.Release(a, jobN(n))
		}
		g.advance(time.Second)
		for n := 1; n <= 3; n++ {
			for _, h := range g.members {
				h.r.Forget(h, jobN(n))
			}
			g.advance(20 * time.Second) // so that one sweep finds young and old ones
		}
		if restart {
			for _, h := range g.members {
				h.crash(false)
				h.begin()
			}
			g.advance(60 * time.Second)
		}
		g.advance(19 * time.Second)
		for _, h := range g.members {
			if reg := h.r.known(jobN(1)); reg == nil || !reg.reaped {
				t.Fatalf("restart %v: %s has forgotten a tombstone before its age", restart, h.name)
			}
		}
		g.advance(time.Second + 11*time.Second) // its age, and the sweep after it
		for _, h := range g.members {
			if _, left := h.records["lease/gates/register/"+jobN(1).String()]; h.r.known(jobN(1)) != nil || left {
				t.Fatalf("restart %v: %s still has the tombstone, on disk: %v", restart, h.name, left)
			}
			if !restart && (h.r.known(jobN(3)) == nil || h.r.sweeping == false) {
				t.Fatalf("%s has forgotten a younger tombstone, or sweeps no more", h.name)
			}
		}
		g.advance(60 * time.Second)
		for _, h := range g.members {
			if len(h.r.registers)+h.r.tombs.Len() != 0 || len(h.records) != 1 || h.r.sweeping {
				t.Fatalf("restart %v: %s has %d registers, %d records beside its mark, sweeps on: %v", restart, h.name, len(h.r.registers), len(h.records)-1, h.r.sweeping)
			}
		}
	}
}

// Operators hear of each time that a peer brings another set: not of each hail, and not only of
// the first time.
func TestEachSetThatDiffersIsReported(t *testing.T) {
	g := newGroup([]string{"a", "b", "c"}, small(), 1)
	told := 0
	g.tell = func(h *host, o Outcome) {
		if h.name == "a" && o.Kind == SetDiffers {
			told++
		}
	}
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	b := g.members[1]
	right := b.config.Members
	for n := 1; n <= 3; n++ {
		b.crash(true) // with its disk it would be mute: that is of the right set
		b.config.Members = right[:2]
		b.begin()
		g.advance(30 * time.Second)
		if told != n {
			t.Fatalf("the set of b differed %d times, %d were reported", n, told)
		}
		b.crash(false)
		b.config.Members = right
		b.begin()
		g.advance(30 * time.Second)
	}
}

// A recovery from one disk reports what that disk accepted, even if no other disk did. All
// members report it afterwards, although the others alive knew only older records.
func TestRecoveryTellsTheNewestOfItsOwnDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.PageRegisters, c.PutRecords = rapid.IntRange(1, 3).Draw(t, "page"), rapid.IntRange(1, 3).Draw(t, "put")
		g := newGroup([]string{"a", "b", "c", "d", "e"}, c, rapid.Uint64().Draw(t, "seed"))
		for _, h := range g.members {
			h.begin()
		}
		g.advance(time.Second)
		a, d := g.members[0], g.members[3]
		jobs := rapid.IntRange(1, 5).Draw(t, "jobs")
		for n := 1; n <= jobs; n++ {
			a.r.Acquire(a, jobN(n), []byte("old"))
		}
		g.advance(time.Second)
		for n := range g.members[3:] { // d and e miss the update, which a majority has
			g.members[3+n].crash(false)
		}
		for n := 1; n <= jobs; n++ {
			a.r.Update(a, jobN(n), []byte("new"), 1)
		}
		g.advance(time.Second)
		for _, h := range g.members[:3] {
			h.crash(h != a)
		}
		g.members[4].crash(true)
		d.begin() // alive, and it knows the old records only
		g.advance(time.Second)
		a.config.Recover = true
		a.begin()
		a.config.Recover = false
		g.advance(3 * a.config.Lease)
		for _, h := range g.members {
			if h != a && h != d {
				h.begin()
			}
		}
		d.crash(true) // fenced by the new epoch: it joins again
		d.begin()
		g.advance(3 * a.config.Lease)
		read := 0
		g.tell = func(h *host, o Outcome) {
			if o.Kind == Read && o.Err == nil {
				read++
				if !o.Found || string(o.State.Record) != "new" {
					t.Fatalf("%s reads %q of job %v after the recovery, want what was done before it", h.name, o.State.Record, o.Job)
				}
			}
		}
		for _, h := range g.members {
			if !h.r.Speaks() {
				t.Fatalf("%s does not speak", h.name)
			}
			for n := 1; n <= jobs; n++ {
				h.r.Read(h, jobN(n), uint64(n))
			}
		}
		g.advance(5 * time.Second)
		if read == 0 {
			t.Fatal("nothing was read")
		}
	})
}

// A tombstone tells a member that prepares that the register was released, and under which
// token.
func TestTombstonesAnswerWithTheRelease(t *testing.T) {
	g := newGroup([]string{"a", "b", "c"}, small(), 1)
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	a, b := g.members[0], g.members[1]
	a.r.Acquire(a, jobN(1), []byte("one"))
	g.advance(time.Second)
	a.r.Release(a, jobN(1))
	g.advance(time.Second)
	for _, h := range g.members {
		h.r.Forget(h, jobN(1))
	}
	g.advance(time.Second)
	promises, released, held := 0, 0, g.held
	g.held = func(from, to int, m node.Message) bool {
		if f, ok := m.(*message.LeaseFrame); ok {
			for _, p := range f.Promises {
				promises++
				if p.Accepted.Released && !p.Accepted.Token.Zero() {
					released++
				}
			}
		}
		return held(from, to, m)
	}
	b.r.Acquire(b, jobN(1), []byte("two"))
	g.advance(time.Second)
	if promises < 2 || released != promises {
		t.Errorf("of %d promises %d tell of the release", promises, released)
	}
}
