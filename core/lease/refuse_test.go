package lease

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// At its bounds a member ends each request with the reason that a model predicts, and keeps no
// more registers than it may.
func TestRequestsEndWithTheirReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.RegistersMax, c.RecordMax = rapid.IntRange(1, 3).Draw(t, "registers max"), 4
		g := newGroup([]string{"a", "b", "c"}, c, rapid.Uint64().Draw(t, "seed"))
		var told []Outcome
		g.tell = func(_ *host, o Outcome) { told = append(told, o) }
		for _, h := range g.members {
			h.begin()
		}
		ready := rapid.Bool().Draw(t, "ready")
		if ready {
			g.advance(time.Second)
		}
		far := map[message.JobID]bool{} // jobs of which a peer says that their epochs are spent
		for ticket := range uint64(rapid.IntRange(1, 25).Draw(t, "requests")) {
			h := g.members[rapid.IntRange(0, 2).Draw(t, "who")]
			job := jobN(rapid.IntRange(1, 4).Draw(t, "job"))
			record := make([]byte, rapid.IntRange(1, 6).Draw(t, "bytes"))
			_, knows := h.r.registers[job]
			full := !knows && len(h.r.registers) >= c.RegistersMax
			_, holds := h.r.Holds(h.Now(), job)
			speaks, long := h.r.Speaks(), len(record) > c.RecordMax
			if (h.r.Standing() == "member") != speaks || ready && !speaks {
				t.Fatalf("%s speaks: %v, as %s", h.name, speaks, h.r.Standing())
			}
			told = nil
			kind, want := Denied, error(nil)
			switch rapid.SampledFrom([]string{"acquire", "acquire", "update", "read", "release", "transfer", "forget", "far", "wait"}).Draw(t, "request") {
			case "acquire":
				if knows && h.r.registers[job].own != nil {
					break // an attempt runs
				}
				h.r.Acquire(h, job, record)
				switch {
				case !speaks:
					want = ErrNotMember
				case long:
					want = ErrTooLarge
				case full:
					want = ErrFull
				case far[job] && h.index == 0:
					want = ErrExhausted
				}
			case "update":
				h.r.Update(h, job, record, ticket)
				switch kind = Rejected; {
				case long:
					want = ErrTooLarge
				case !holds:
					want = ErrNotHolder
				}
			case "read":
				h.r.Read(h, job, ticket)
				if kind = Read; !speaks {
					want = ErrNotMember
				}
			case "release":
				h.r.Release(h, job)
			case "transfer":
				to := rapid.SampledFrom([]node.Addr{"a:1", "b:1", "c:1", "x:1"}).Draw(t, "to")
				h.r.Transfer(h, job, to)
				if kind = Rejected; !holds || to == h.self.Addr || to == "x:1" {
					want = ErrNotHolder
				}
			case "forget":
				s, seen := h.r.Seen(h.Now(), job)
				h.r.Forget(h, job)
				if !seen || !s.Released {
					if _, still := h.r.registers[job]; still != knows {
						t.Fatalf("%s forgets job %v, which is not released", h.name, job)
					}
				}
			case "far":
				if a := g.members[0]; speaks && a.r.Speaks() && (a.r.registers[job] != nil || len(a.r.registers) < c.RegistersMax) {
					f := &message.LeaseFrame{Group: "gates", Gens: []uint64{1, 1, 1}, Prepares: []message.LeasePrepare{
						{Job: job, Token: message.LeaseToken{Epoch: epochEnd - 2, Ordinal: 2}, Life: message.LeaseLife{Incarnation: 1, Salt: 1}}}}
					a.r.Receive(a, g.members[1].self, f)
					g.advance(time.Millisecond)
					if reg := a.r.registers[job]; reg != nil && reg.seen == epochEnd-2 {
						far[job] = true
					}
				}
			case "wait":
				g.advance(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 12 * time.Second}).Draw(t, "wait"))
			}
			h.drain()
			for _, o := range told {
				if o.Err != nil && o.Kind == kind && o.Job == job && want == nil && (errors.Is(o.Err, ErrTooLarge) || errors.Is(o.Err, ErrNotMember) || errors.Is(o.Err, ErrNotHolder)) {
					t.Fatalf("%s is told %+v, and no reason is known", h.name, o)
				}
			}
			if want != nil && (len(told) != 1 || told[0].Kind != kind || told[0].Job != job || !errors.Is(told[0].Err, want)) {
				t.Fatalf("%s is told %+v, want %v: %v", h.name, told, kind, want)
			}
			g.advance(rapid.SampledFrom([]time.Duration{0, time.Millisecond, 20 * time.Millisecond}).Draw(t, "pause"))
			for _, h := range g.members {
				if n := len(h.r.registers); n > c.RegistersMax {
					t.Fatalf("%s keeps %d registers, want at most %d", h.name, n, c.RegistersMax)
				}
			}
		}
	})
}

// A member that lost its disk joins again, however often its new disk rejects writes meanwhile.
// It answers nothing until its disk takes everything. Then it has each register with the record
// that a majority has.
func TestJoinOutlastsAFailingDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.PageRegisters = rapid.IntRange(1, 4).Draw(t, "page")
		c.PutRecords = rapid.IntRange(1, 4).Draw(t, "put")
		g := newGroup([]string{"a", "b", "c"}, c, rapid.Uint64().Draw(t, "seed"))
		for _, h := range g.members {
			h.begin()
		}
		g.advance(time.Second)
		jobs := rapid.IntRange(1, 9).Draw(t, "jobs")
		for n := range jobs {
			owner := g.members[rapid.IntRange(0, 1).Draw(t, "owner")]
			owner.r.Acquire(owner, jobN(n+1), []byte{byte(n)})
			owner.drain()
		}
		g.advance(time.Second)
		lost := g.members[2]
		lost.crash(true)
		lost.begin()
		for range rapid.IntRange(1, 6).Draw(t, "turns") { // the disk takes so many records, then none for a while
			takes := rapid.IntRange(0, jobs+1).Draw(t, "takes")
			lost.failing = takes == 0
			for step, end := 100*time.Microsecond, 600*time.Millisecond; end > 0 && !lost.r.Speaks(); end -= step {
				g.advance(step)
				lost.failing = lost.failing || len(lost.records) >= takes
			}
			if lost.r.Speaks() && len(lost.records) < jobs+1 {
				t.Fatalf("a member speaks, and its disk has %d records, want %d registers and its mark", len(lost.records), jobs)
			}
		}
		lost.failing = false
		g.advance(5 * time.Second)
		if !lost.r.Speaks() || lost.r.Standing() != "member" || lost.r.joining != nil {
			t.Fatalf("with a whole disk it is %s", lost.r.Standing())
		}
		lost.crash(false) // what counts is on the disk
		lost.begin()
		for n := range jobs {
			if s, ok := lost.r.Seen(lost.Now(), jobN(n+1)); !ok || string(s.Record) != string([]byte{byte(n)}) {
				t.Fatalf("of job %d it has %+v, want record %d", n, s, n)
			}
		}
	})
}

// A join ends when the write of its generation fails, and starts again: a member asks for
// registers only under a generation that is on its disk. Once the others know that generation,
// they drop the former disk's answers. A crash must not let the next disk use it again.
func TestJoinAsksUnderAStoredGeneration(t *testing.T) {
	g := three()
	lost := g.members[2]
	lost.crash(true)
	asked := 0
	g.held = func(from, to int, m node.Message) bool {
		set, ok := m.(*message.LeaseJoinSet)
		if !ok || from != 2 {
			return false
		}
		asked++
		var stored record.Member
		if b := lost.records[lost.r.key("member")]; b == nil {
			t.Errorf("it asks for registers under generation %d, and its disk has no mark", set.Generation)
		} else if err := record.Read(b, &stored); err != nil || len(stored.Generations) != 3 || stored.Generations[2] != set.Generation {
			t.Errorf("it asks for registers under generation %d, its disk has %v, %v", set.Generation, stored.Generations, err)
		}
		return false
	}
	lost.failing = true
	lost.begin()
	g.advance(time.Second)
	if asked > 0 || lost.r.Speaks() {
		t.Fatalf("with a disk that takes nothing it asks %d times for registers, and speaks: %v", asked, lost.r.Speaks())
	}
	lost.failing = false
	g.advance(time.Second)
	if asked == 0 || !lost.r.Speaks() {
		t.Fatalf("with a whole disk it asks %d times for registers, and is %s", asked, lost.r.Standing())
	}
}

// A member that writes its mark again keeps the fields that a newer version wrote into it.
func TestMarksKeepUnknownFields(t *testing.T) {
	g := three()
	h, lost := g.members[0], g.members[2]
	key := h.r.key("member")
	h.crash(false)
	newer := slices.Clone(h.records[key])
	newer[0]++ // a map of one field more
	h.records[key] = append(newer, 0xa3, 'n', 'e', 'w', 7)
	h.begin()
	g.advance(time.Second)
	lost.crash(true)
	lost.begin()
	g.advance(time.Second)
	var m record.Member
	if err := record.Read(h.records[key], &m); err != nil || m.Generations[2] != 2 || !bytes.HasSuffix(h.records[key], []byte{0xa3, 'n', 'e', 'w', 7}) {
		t.Errorf("its mark is %+v, %x, %v", m, h.records[key], err)
	}
}
