package lease

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// judge checks what lease.md promises within the drift bound, against the simplest model:
// records are numbers that grow in the order of the updates.
type judge struct {
	g       *group
	granted map[message.JobID]map[message.LeaseToken]string
	highest map[message.JobID]message.LeaseToken
	floor   map[message.JobID]uint64 // no grant or read may return less
	values  map[uint64]uint64        // digest to number
	opened  map[string]opened
	last    uint64
	seen    map[string]int
	bound   map[string]map[message.JobID]message.LeaseToken // by member: the highest promise of its disk
	fault   string
	beyond  bool // beyond the drift bound: windows may overlap, holders may read old values
}

type opened struct {
	what  string
	floor uint64
	value uint64
}

func newJudge(g *group) *judge {
	j := &judge{
		g: g, granted: map[message.JobID]map[message.LeaseToken]string{}, highest: map[message.JobID]message.LeaseToken{},
		floor: map[message.JobID]uint64{}, values: map[uint64]uint64{}, opened: map[string]opened{}, seen: map[string]int{},
		bound: map[string]map[message.JobID]message.LeaseToken{},
	}
	g.watch = j.event
	return j
}

// record returns a record that no holder has written.
func (j *judge) record() []byte {
	j.last++
	b := binary.BigEndian.AppendUint64(nil, j.last)
	j.values[Value(b)] = j.last
	return b
}

func (j *judge) fail(format string, args ...any) {
	if j.fault == "" {
		j.fault = fmt.Sprintf(format, args...)
	}
}

func (j *judge) event(h *host, e node.Event) {
	switch e := e.(type) {
	case event.LeaseGranted:
		j.grant(h, e)
	case event.LeaseCalled:
		j.opened[key(h, e.Call)] = opened{e.What, j.floor[e.Job], j.values[e.Value]}
	case event.LeaseReturned:
		o := j.opened[key(h, e.Call)]
		delete(j.opened, key(h, e.Call))
		if !e.OK {
			return
		}
		n := j.values[e.Value]
		if j.beyond && o.what == "read-held" {
			return
		}
		if n < o.floor {
			j.fail("%s: %s of %v returns %d, %d was completed before it began", h.name, o.what, e.Job, n, o.floor)
		}
		j.floor[e.Job] = max(j.floor[e.Job], n)
	case event.AcceptorWrote:
		if j.bound[h.name] == nil {
			j.bound[h.name] = map[message.JobID]message.LeaseToken{}
		}
		if high := j.bound[h.name][e.Job]; e.Promised.Less(high) {
			j.fail("%s promises %v of %v, and has promised %v before", h.name, e.Promised, e.Job, high)
		}
		j.bound[h.name][e.Job] = e.Promised
	case event.Reached:
		j.seen[e.What]++
	}
}

func key(h *host, call uint64) string {
	return fmt.Sprintf("%s/%d/%d", h.name, h.self.Incarnation, call)
}

func (j *judge) grant(h *host, e event.LeaseGranted) {
	life := fmt.Sprintf("%s %v", h.name, e.Life)
	if j.granted[e.Job] == nil {
		j.granted[e.Job] = map[message.LeaseToken]string{}
	}
	if who, ok := j.granted[e.Job][e.Token]; ok {
		j.fail("T1: %v is granted to %s, it was to %s", e.Token, life, who)
	}
	j.granted[e.Job][e.Token] = life
	if j.beyond {
		return
	}
	if !j.highest[e.Job].Less(e.Token) {
		j.fail("T1: %v is granted to %s after %v", e.Token, life, j.highest[e.Job])
	}
	j.highest[e.Job] = e.Token
	for _, o := range j.g.members {
		if o == h || o.r == nil {
			continue
		}
		if t, ok := o.r.Holds(o.Now(), e.Job); ok {
			j.fail("T2: %v is granted to %s while %s holds %v", e.Token, h.name, o.name, t)
		}
	}
}

// cruel is a small world under random faults.
type cruel struct {
	*judge
	t     *rapid.T
	cut   members // pairs, coarse: the members that are cut off from all others
	deaf  members // hear nothing, and are heard
	lossy bool
	blank members // disks lost and not yet rejoined
}

func newCruel(t *rapid.T, n int) *cruel {
	names := []string{"a", "b", "c", "d", "e"}[:n]
	c := small()
	c.Lease, c.RankWait, c.AttemptTimeout = 2*time.Second, 100*time.Millisecond, 600*time.Millisecond
	g := newGroup(names, c, rapid.Uint64().Draw(t, "seed"))
	g.clone = false
	w := &cruel{judge: newJudge(g), t: t}
	for _, h := range g.members {
		h.ppm = rapid.SampledFrom([]int64{-10_000, -10_000, 0, 10_000, 10_000}).Draw(t, "ppm")
	}
	noise := node.NewRand(rapid.Uint64().Draw(t, "noise"), "net", node.PurposeNetwork)
	g.latency = func(from, to int, m node.Message) []time.Duration {
		if w.cut.has(from) || w.cut.has(to) || w.deaf.has(to) {
			return nil
		}
		if !w.lossy {
			return []time.Duration{time.Millisecond}
		}
		var copies []time.Duration
		for range 1 + noise.Int(10)/8 {
			switch noise.Int(8) {
			case 0, 1:
			case 2: // the network delays it for up to three leases
				copies = append(copies, noise.Duration(0, 6*time.Second))
			case 3:
				copies = append(copies, noise.Duration(0, 300*time.Millisecond))
			default:
				copies = append(copies, noise.Duration(0, 5*time.Millisecond))
			}
		}
		return copies
	}
	g.disk = func() time.Duration { return noise.Duration(0, 3*time.Millisecond) }
	g.tell = w.told
	for _, h := range g.members {
		h.begin()
	}
	g.advance(time.Second)
	return w
}

// told does the least that a role does: it acquires vacant registers.
func (w *cruel) told(h *host, o Outcome) {
	if o.Kind == Vacant {
		h.r.Acquire(h, o.Job, w.record())
	}
}

func (w *cruel) who() *host {
	return w.g.members[rapid.IntRange(0, len(w.g.members)-1).Draw(w.t, "who")]
}

func (w *cruel) speaking() *host {
	if h := w.who(); h.r != nil && h.r.Speaks() {
		return h
	}
	return nil
}

func (w *cruel) job() message.JobID { return jobN(rapid.IntRange(1, 2).Draw(w.t, "job")) }

func (w *cruel) actions() map[string]func(*rapid.T) {
	with := func(f func(h *host, job message.JobID)) func(*rapid.T) {
		return func(*rapid.T) {
			job := w.job()
			if h := w.speaking(); h != nil {
				f(h, job)
				h.drain()
			}
		}
	}
	update := with(func(h *host, job message.JobID) {
		if _, ok := h.r.Holds(h.Now(), job); ok {
			h.r.Update(h, job, w.record(), 1)
		}
	})
	tick := func(*rapid.T) {
		w.g.advance(rapid.SampledFrom([]time.Duration{time.Millisecond, 3 * time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second}).Draw(w.t, "advance"))
	}
	return map[string]func(*rapid.T){
		"acquire":  with(func(h *host, job message.JobID) { h.r.Acquire(h, job, w.record()) }),
		"update":   update,
		"update2":  update,
		"release":  with(func(h *host, job message.JobID) { h.r.Release(h, job) }),
		"abandon":  with(func(h *host, job message.JobID) { h.r.Abandon(h, job) }),
		"transfer": with(func(h *host, job message.JobID) { h.r.Transfer(h, job, w.who().self.Addr) }),
		"read":     with(func(h *host, job message.JobID) { h.r.Read(h, job, 1) }),
		"read2":    with(func(h *host, job message.JobID) { h.r.Read(h, job, 1) }),
		"tick":     tick,
		"tick2":    tick,
		"tick3":    tick,
		"crash":    func(*rapid.T) { w.restart(false) },
		"lose":     func(*rapid.T) { w.restart(true) },
		"cut":      func(*rapid.T) { w.cut = members(rapid.Uint64Range(0, 1<<len(w.g.members)-1).Draw(w.t, "cut")) },
		"heal":     func(*rapid.T) { w.cut = 0 },
		"lossy":    func(*rapid.T) { w.lossy = !w.lossy },
		"full": func(*rapid.T) {
			h := w.who()
			h.failing = !h.failing
		},
		"": func(t *rapid.T) {
			if w.fault != "" {
				t.Fatal(w.fault)
			}
		},
	}
}

// restart ends an incarnation and begins the next. It loses a disk only while all others have
// theirs: no group survives more than that.
func (w *cruel) restart(lose bool) {
	h := w.who()
	w.settle()
	if lose {
		if len(w.g.members) < 3 {
			return // one or two members do not survive a lost disk
		}
		if w.blank != 0 && !w.blank.has(h.index) {
			return
		}
		w.blank.add(h.index)
	}
	h.crash(lose)
	if lose {
		delete(w.bound, h.name)
	}
	h.failing = false
	h.begin()
}

// settle finds the members that have rejoined since they lost their disks.
func (w *cruel) settle() {
	for i, h := range w.g.members {
		if w.blank.has(i) && h.r != nil && h.r.Speaks() {
			w.blank.drop(i)
		}
	}
}

// finish heals everything: every register must have a holder or be released.
func (w *cruel) finish(t *rapid.T) {
	w.cut, w.lossy = 0, false
	for _, h := range w.g.members {
		h.failing = false
	}
	w.g.advance(20 * time.Second)
	if w.fault != "" {
		t.Fatal(w.fault)
	}
	for _, h := range w.g.members {
		if !h.r.Speaks() {
			t.Fatalf("%s does not speak, standing %d", h.name, h.r.standing)
		}
	}
	for _, h := range w.g.members {
		for _, reg := range h.r.sorted() {
			if reg.accepted.Token.Zero() && reg.own == nil && h.Now().Sub(reg.received) > 2*h.r.c.Guard() {
				t.Fatalf("%s still has the register %v, and has accepted nothing of it: promised %v at %v, it is %v", h.name, reg.job, reg.promised, reg.received, h.Now())
			}
		}
	}
	for n := 1; n <= 2; n++ {
		holders, released, known := 0, 0, 0
		for _, h := range w.g.members {
			if _, ok := h.r.Holds(h.Now(), jobN(n)); ok {
				holders++
			}
			if s, ok := h.r.Seen(h.Now(), jobN(n)); ok {
				known++
				if s.Released {
					released++
				}
			}
		}
		if known > 0 && holders != 1 && released == 0 {
			t.Fatalf("job %d has %d holders, %d members know of it, %d as released", n, holders, known, released)
		}
	}
}

func TestNothingBreaksWithinTheDriftBound(t *testing.T) {
	reached := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := newCruel(t, rapid.SampledFrom([]int{3, 3, 5, 1, 2, 4}).Draw(t, "members"))
		t.Repeat(w.actions())
		w.finish(t)
		//lint:orderfree sums
		for what, n := range w.seen {
			reached[what] += n
		}
	})
	t.Log(reached)
}

// Holders update, and release or hand over at once or a moment later, while the network loses,
// delays and doubles messages. Nothing breaks. Once everything is released and calm, each
// member's ledgers are at rest.
func TestHasteBreaksNothingAndLeavesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newCruel(t, rapid.SampledFrom([]int{3, 3, 2, 5}).Draw(t, "members"))
		t.Repeat(w.hasty(t))
		w.finish(t)
		w.rest(t)
	})
}

// The same; then holders release while all links are cut, and others acquire. When the links are
// back, less than half of the members are dead or hear nothing, for ever. In the end the
// others own nothing.
func TestHasteLeavesNothingBesideTheDeaf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newCruel(t, rapid.SampledFrom([]int{3, 3, 5}).Draw(t, "members"))
		t.Repeat(w.hasty(t))
		w.cut = 1<<len(w.g.members) - 1
		for range 6 {
			w.calls(t, rapid.IntRange(0, 2).Draw(t, "calls"))
			w.g.advance(rapid.SampledFrom([]time.Duration{time.Millisecond, 700 * time.Millisecond, 2 * time.Second}).Draw(t, "passes"))
		}
		w.cut, w.lossy = 0, false
		for range (len(w.g.members) - 1) / 2 {
			h := w.who()
			w.deaf.add(h.index)
			if h.r != nil && rapid.Bool().Draw(t, "dies") {
				h.crash(false)
			}
		}
		w.g.advance(20 * time.Second)
		w.rest(t, "lease/proposals", "lease/registers that are owned")
	})
}

// hasty are the actions of the properties about haste.
func (w *cruel) hasty(t *rapid.T) map[string]func(*rapid.T) {
	all := w.actions()
	burst := func(*rapid.T) { w.calls(t, rapid.IntRange(1, 12).Draw(t, "calls")) }
	return map[string]func(*rapid.T){
		"burst": burst, "burst2": burst, "burst3": burst, "tick": all["tick"], "lossy": all["lossy"], "crash": all["crash"], "cut": all["cut"], "heal": all["heal"],
		"": func(t *rapid.T) {
			all[""](t)
			for _, h := range w.g.members {
				held := 0
				//lint:orderfree a sum
				for _, p := range h.r.registers {
					if p.own != nil {
						held++
					}
				}
				h.r.Rests(func(what string, n, _ int) {
					if n < 0 || what == "lease/registers that are owned" && n != held {
						t.Fatalf("%s of %s is %d, it owns %d", what, h.name, n, held)
					}
				})
			}
		},
	}
}

// calls are some calls of one member for one job.
func (w *cruel) calls(t *rapid.T, n int) {
	h, job := w.speaking(), w.job()
	if h == nil {
		return
	}
	for range n {
		_, holds := h.r.Holds(h.Now(), job)
		switch rapid.IntRange(0, 4).Draw(t, "call") {
		case 0:
			h.r.Acquire(h, job, w.record())
		case 1, 2:
			if holds {
				h.r.Update(h, job, w.record(), 1)
			}
		case 3:
			h.r.Release(h, job)
		case 4:
			h.r.Transfer(h, job, w.who().self.Addr)
		}
		if rapid.Bool().Draw(t, "a moment") {
			h.drain()
			w.g.advance(rapid.SampledFrom([]time.Duration{time.Millisecond, 2 * time.Millisecond, 700 * time.Millisecond}).Draw(t, "passes"))
		}
	}
	h.drain()
}

// rest releases everything. Then the ledgers of all members that hear are at rest: those that it
// names, or all.
func (w *cruel) rest(t *rapid.T, names ...string) {
	for range 3 {
		for n := 1; n <= 2; n++ {
			for _, h := range w.hearing() {
				if _, ok := h.r.Holds(h.Now(), jobN(n)); ok {
					h.r.Release(h, jobN(n))
					h.drain()
				}
			}
		}
		w.g.advance(20 * time.Second)
	}
	for _, h := range w.hearing() {
		h.r.Rests(func(what string, n, rest int) {
			if n > rest && (len(names) == 0 || slices.Contains(names, what)) {
				t.Fatalf("%s of %s is %d when all is calm, its rest is %d", what, h.name, n, rest)
			}
		})
	}
}

func (w *cruel) hearing() []*host {
	return slices.DeleteFunc(slices.Clone(w.g.members), func(h *host) bool { return w.deaf.has(h.index) })
}
