package lease

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// swift is a group of three without network or disk delays. It handles every message and every
// write at once, so that the benchmark measures the registers alone.
func swift(b *testing.B, jobs int) *group {
	b.Helper()
	c := small()
	c.Lease = 30 * time.Second
	g := newGroup([]string{"a", "b", "c"}, c, 1)
	g.clone = false
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	for n := range jobs {
		g.members[0].r.Acquire(g.members[0], benchJob(n), []byte("record of a job that is held"))
	}
	g.advance(time.Second)
	if got := len(g.members[0].r.Held()); got != jobs {
		b.Fatalf("%d of %d jobs are held", got, jobs)
	}
	return g
}

func benchJob(n int) message.JobID {
	id := message.JobID{15: 1}
	binary.BigEndian.PutUint32(id[:], uint32(n))
	return id
}

// One iteration renews 10,000 leases at all three members once: a third of a lease.
func BenchmarkRenew10000(b *testing.B) {
	g := swift(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		g.advance(10 * time.Second)
	}
	if got := len(g.members[0].r.Held()); got != 10_000 {
		b.Fatalf("%d of 10000 jobs are held still", got)
	}
}

// One iteration acquires one register, with all that three members do for it.
func BenchmarkAcquire(b *testing.B) {
	g := swift(b, 0)
	h := g.members[0]
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		if n++; n%50_000 == 0 { // start over before the group is full
			b.StopTimer()
			g = swift(b, 0)
			h = g.members[0]
			b.StartTimer()
		}
		h.r.Acquire(h, benchJob(n), []byte("record"))
		g.advance(5 * time.Millisecond)
		h.r.Abandon(h, benchJob(n))
	}
}

// A renewal allocates little beyond the event that reports it.
func TestRenewalsAllocateLittle(t *testing.T) {
	const jobs = 2000
	c := small()
	g := newGroup([]string{"a", "b", "c"}, c, 1)
	g.clone = false
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	for n := range jobs {
		g.members[0].r.Acquire(g.members[0], benchJob(n), []byte("record"))
	}
	g.advance(time.Second)
	perRound := testing.AllocsPerRun(3, func() { g.advance(c.Lease / 3) })
	if perRound > 2*jobs {
		t.Errorf("a round of %d renewals allocates %.0f times", jobs, perRound)
	}
}

// The estimate of a frame's size is never below the real size.
func TestFramesFitTheCodec(t *testing.T) {
	c := small()
	c.RecordMax = RecordMax
	g := newGroup([]string{"a", "b", "c"}, c, 1)
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	h := g.members[0]
	for n := range 9000 {
		size := 10
		if n%100 == 0 {
			size = RecordMax
		}
		h.r.Acquire(h, benchJob(n), slices.Repeat([]byte("x"), size))
	}
	g.advance(8 * time.Second) // clone: the test encodes each frame, which checks the estimate
	if got := len(h.r.Held()); got != 9000 {
		t.Errorf("%d of 9000 jobs are held", got)
	}
	g.members[2].crash(true)
	g.members[2].begin()
	g.advance(2 * time.Second)
	if !g.members[2].r.Speaks() || len(g.members[2].r.Known()) != 9000 {
		t.Errorf("the third member speaks: %v, knows %d", g.members[2].r.Speaks(), len(g.members[2].r.Known()))
	}
}

// An entry of the largest possible size.
func TestEntryBytesIsABound(t *testing.T) {
	huge := message.LeaseToken{Epoch: 1<<64 - 1, Ordinal: 1<<32 - 1}
	life := message.LeaseLife{Incarnation: 1<<64 - 1, Salt: 1<<64 - 1}
	state := message.LeaseState{Token: huge, Life: life, Seq: 1<<64 - 1, Rev: 1<<64 - 1, Released: true, Copied: true, Lease: -1 << 62}
	frames := []node.Message{
		&message.LeaseFrame{Prepares: []message.LeasePrepare{{Token: huge, Life: life, Consent: huge}}},
		&message.LeaseFrame{Promises: []message.LeasePromise{{Token: huge, Life: life, Accepted: state}}},
		&message.LeaseFrame{Refusals: []message.LeaseRefusal{{Token: huge, Life: life, Promised: huge, Held: huge, Left: -1 << 62}}},
		&message.LeaseFrame{Accepts: []message.LeaseAccept{{Token: huge, Life: life, Seq: 1<<64 - 1, Rev: 1<<64 - 1, Lease: -1 << 62}}},
		&message.LeaseFrame{Answers: []message.LeaseAnswer{{Nonce: 1<<64 - 1, Accepted: state}}},
		&message.LeaseJoinState{Registers: []message.LeaseRegister{{Promised: huge, Life: life, Accepted: state}}},
	}
	for _, m := range frames {
		if m.Size() > entryBytes {
			t.Errorf("%d bytes are more than entryBytes = %d: %+v", m.Size(), entryBytes, m)
		}
	}
}
