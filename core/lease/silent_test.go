package lease

import (
	"testing"
	"time"
)

// A member tells of a job whose owner is silent: from two thirds of its lease on, and from its own restart on until a
// renewal follows, as each restart begins the guard anew. It tells of none that is owned, released or its own.
func TestASilentOwnerIsCounted(t *testing.T) {
	g := newGroup([]string{"a", "b", "c"}, small(), 1)
	vacant := func(h *host, o Outcome) {
		if o.Kind == Vacant && h.name == "b" && !o.Vacancy.Mine {
			h.r.Acquire(h, o.Job, o.Record)
		}
	}
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	a, b, c := g.host("a"), g.host("b"), g.host("c")
	for i := range 3 {
		a.r.Acquire(a, jobN(i+1), []byte("record"))
		a.r.Flush(a)
	}
	g.advance(time.Second)
	silent := func(h *host, want int, why string) time.Duration {
		t.Helper()
		n, wait := h.r.Silent(h.Now())
		if n != want || n > 0 && wait > h.config.Guard() {
			t.Errorf("%s: %s counts %d silent owners for %v, want %d", why, h.name, n, wait, want)
		}
		return wait
	}
	a.r.Release(a, jobN(3))
	a.r.Flush(a)
	g.advance(10 * time.Second)
	silent(b, 0, "the owner renews")
	silent(a, 0, "they are its own")
	c.crash(false)
	c.begin()
	g.advance(50 * time.Millisecond)
	silent(c, 2, "it has started, and no renewal came yet")
	g.advance(5 * time.Second)
	silent(c, 0, "renewals came")
	c.crash(true)
	c.begin()
	for range 100 {
		if g.advance(20 * time.Millisecond); c.r.Speaks() {
			break
		}
	}
	silent(c, 2, "it has joined, and no renewal came yet")
	g.advance(5 * time.Second)
	silent(c, 0, "renewals came again")

	a.crash(false)
	g.advance(3 * time.Second)
	silent(b, 0, "the owner has renewed a moment ago")
	g.advance(4 * time.Second)
	silent(b, 2, "two thirds of the lease are over")
	b.r.registers[jobN(1)].notBefore = b.Now() + 1
	silent(b, 1, "another member has just said that the first is held")
	b.r.registers[jobN(1)].notBefore = 0
	b.crash(false)
	b.begin()
	g.advance(5 * time.Second)
	if wait := silent(b, 2, "it started again without an owner"); wait < 5*time.Second {
		t.Errorf("the guard begins with the restart, and is over in %v", wait)
	}
	g.advance(6 * time.Second)
	silent(b, 2, "it is vacant, and no member has taken it yet")
	g.advance(10 * time.Second)
	silent(b, 0, "no member takes it: to wait helps no more")
	b.crash(false)
	b.begin()
	g.advance(5 * time.Second)
	g.tell = vacant
	g.advance(20 * time.Second)
	silent(b, 0, "another member owns them")
	silent(c, 0, "another member owns them")
}
