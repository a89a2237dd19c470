package archive

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

const sweepAge = 40 * time.Second

// library is three archives and the records that name their files, in the simplest form: a
// record is chosen once two of three nodes have accepted it.
type library struct {
	*group
	clock    time.Duration
	accepted [3]map[int]bool       // records, by the file that they name
	open     map[int]time.Duration // when the write of a record began
	owner    map[int]int           // the node that writes it
	chosen   map[int]bool
	cut      [3]bool
	swept    int
}

func newLibrary(t *rapid.T, page int) *library {
	l := &library{group: newGroup(t), open: map[int]time.Duration{}, owner: map[int]int{}, chosen: map[int]bool{}}
	for i := range l.accepted {
		l.accepted[i] = map[int]bool{}
		l.toys[i].config.SweepAge, l.toys[i].config.SweepPage = sweepAge, page
		x := l.toys[i]
		x.outcome = func(o Outcome) { delete(l.group.open[i], o.Ticket) }
	}
	return l
}

func (l *library) digest(file int) message.FileDigest {
	return message.FileDigest(sha256.Sum256(content(file)))
}

// write begins the record that names a file which this node has kept.
func (l *library) write(i, file int) {
	f := l.toys[i].files[l.digest(file)]
	_, open := l.open[file]
	if open || l.chosen[file] || f == nil || f.keep == nil || !f.keep.done || l.toys[i].Stale(l.envs[i], l.digest(file)) {
		return
	}
	l.open[file], l.owner[file] = l.clock, i
	l.accepted[i][file] = true
}

// accept makes a node take a record, while the lease of its holder still lasts.
func (l *library) accept(i, file int) {
	since, open := l.open[file]
	if !open || l.clock-since > sweepAge/quarters {
		return
	}
	l.accepted[i][file] = true
	if i != l.owner[file] {
		l.chosen[file] = true
		delete(l.open, file)
	}
}

// replace makes a majority accept a record without the file, also in time.
func (l *library) replace(file int) {
	delete(l.chosen, file)
	delete(l.open, file)
	for i := range l.accepted {
		delete(l.accepted[i], file)
	}
}

// sweep makes a node sweep what its own records do not name.
func (l *library) sweep(i int) {
	used := map[message.FileDigest]bool{}
	//lint:orderfree a set
	for file := range l.accepted[i] {
		used[l.digest(file)] = true
	}
	before, _ := l.toys[i].Used()
	l.toys[i].Sweep(l.envs[i], used)
	after, _ := l.toys[i].Used()
	l.swept += before - after
}

// pump delivers the messages, except those of nodes that are cut off.
func (l *library) pump() {
	for n := 0; len(l.wires) > 0 && n < 5000; n++ {
		if w := l.wires[0]; l.cut[w.from] || l.cut[w.to] {
			l.wires = l.wires[1:]
			continue
		}
		l.deliver(0, false, false)
	}
}

func (l *library) pass(d time.Duration) {
	for end := l.clock + d; l.clock < end; {
		step := min(time.Second, end-l.clock)
		l.clock += step
		for i := range l.envs {
			l.envs[i].Advance(step)
		}
		l.pump()
	}
	//lint:orderfree each goes or stays by itself
	for file, since := range l.open {
		if l.clock-since > sweepAge/quarters {
			delete(l.open, file) // its holder's window has ended
		}
	}
}

// holds: a file that a majority kept and a chosen record names is on two disks of three.
func (l *library) holds(t *rapid.T) {
	for _, file := range slices.Sorted(maps.Keys(l.chosen)) {
		count := 0
		for i := range l.envs {
			if l.has(i, l.digest(file)) {
				count++
			}
		}
		if count < 2 {
			t.Fatalf("file %d is on %d disks, and a majority has the record that names it", file, count)
		}
	}
}

// A node that misses the record does not sweep the file; a file that no record names goes.
func TestSweepSparesWhatAMajorityNames(t *testing.T) {
	swept := 0
	rapid.Check(t, func(t *rapid.T) {
		l := newLibrary(t, rapid.IntRange(1, 3).Draw(t, "page"))
		draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		t.Repeat(map[string]func(*rapid.T){
			"keep":    func(*rapid.T) { l.keep(draw("node", 3), draw("file", 4)); l.pump() },
			"write":   func(*rapid.T) { l.write(draw("node", 3), draw("file", 4)) },
			"accept":  func(*rapid.T) { l.accept(draw("node", 3), draw("file", 4)) },
			"accept2": func(*rapid.T) { l.accept(draw("node", 3), draw("file", 4)) },
			"replace": func(*rapid.T) { l.replace(draw("file", 4)) },
			"sweep":   func(*rapid.T) { l.sweep(draw("node", 3)) },
			"sweep2":  func(*rapid.T) { l.sweep(draw("node", 3)); l.pump() },
			"cut":     func(*rapid.T) { i := draw("node", 3); l.cut[i] = !l.cut[i] },
			"lose":    func(*rapid.T) { l.wires = l.wires[:draw("left", len(l.wires)+1)] },
			"wait": func(*rapid.T) {
				l.pass(rapid.SampledFrom([]time.Duration{time.Second, 4 * time.Second, 11 * time.Second, 41 * time.Second}).Draw(t, "wait"))
			},
			"": l.holds,
		})
		l.finish(t)
		swept += l.swept
	})
	if swept == 0 {
		t.Error("nothing was ever swept")
	}
}

// finish heals everything: files without a record leave all disks, all others stay.
func (l *library) finish(t *rapid.T) {
	l.cut = [3]bool{}
	for range 4 {
		l.pass(sweepAge)
		for range 3 {
			for i := range l.envs {
				l.sweep(i)
				l.pump()
			}
		}
	}
	l.holds(t)
	for i, x := range l.toys {
		for _, d := range x.sorted(x.files) {
			named := slices.ContainsFunc([]int{0, 1, 2, 3}, func(file int) bool {
				return l.digest(file) == d && (l.accepted[0][file] || l.accepted[1][file] || l.accepted[2][file])
			})
			if !named {
				t.Fatalf("node %d still has file %v, which no record names", i, d)
			}
		}
		if x.fellows[0].question != nil || x.fellows[1].question != nil {
			t.Fatalf("node %d has not answered a poll", i)
		}
	}
}

// The case by hand: one peer is cut off between the file and its record.
func TestAFellowThatMissedTheRecordKeepsTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLibrary(t, 1)
		l.cut[2] = true
		l.keep(0, 1)
		l.pump()
		l.cut = [3]bool{1: true} // it has the file, the third node gets the record
		l.write(0, 1)
		l.accept(2, 1)
		l.cut[0] = rapid.Bool().Draw(t, "later cut") // before the third node gets the file
		l.pass(2 * sweepAge)
		for range rapid.IntRange(1, 5).Draw(t, "sweeps") {
			for i := range l.envs {
				l.sweep(i)
				l.pump()
			}
			l.cut[1] = rapid.Bool().Draw(t, "cut")
			l.pass(sweepAge / 2)
		}
		if !l.chosen[1] || !l.has(0, l.digest(1)) || !l.has(1, l.digest(1)) {
			t.Fatal("a majority had the file, a majority has its record, and one of the two has swept it")
		}
	})
}

// A round that takes a quarter of SweepAge starts over: the peer that answered first may be
// about to sweep.
func TestASlowKeepBeginsAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLibrary(t, 1)
		l.cut[1], l.cut[2] = true, true
		l.keep(0, 1)
		l.pass(sweepAge/quarters + time.Second)
		l.cut = [3]bool{}
		began := l.envs[0].Now()
		for range 60 {
			l.pass(time.Second)
			if len(l.group.open[0]) == 0 {
				break
			}
		}
		f := l.toys[0].files[l.digest(1)]
		if !f.keep.done || f.keep.began < began {
			t.Fatalf("kept: %v, by a round of %v before a majority was there", f.keep.done, began.Sub(f.keep.began))
		}
	})
}

// The bounds: a poll asks about a file at SweepAge, not before, one page at a time.
func TestPollsComeInPages(t *testing.T) {
	w := world(1, 3, nil)
	w.Discard = true
	w.Start()
	x := w.Machine().(*toy)
	x.config.SweepPage = 2
	var pages []int
	x.post = func(to node.Addr, m node.Message) {
		if q, ok := m.(*message.FileSweep); ok && to == addr(2) {
			pages = append(pages, len(q.Files))
		}
	}
	for i := range 5 {
		x.Keep(w, content(i), uint64(i+1))
	}
	w.Advance(x.config.SweepAge - 1)
	if x.Sweep(w, nil); len(pages) != 0 {
		t.Fatalf("asked %v before SweepAge", pages)
	}
	w.Advance(1)
	if x.Sweep(w, nil); !slices.Equal(pages, []int{2, 2, 1}) {
		t.Fatalf("asked in pages of %v, want 2, 2, 1", pages)
	}
}

// What counts in a poll, and what does not. Each case says whether the file is gone at the end.
func TestWhatCountsInAPoll(t *testing.T) {
	age := Default().SweepAge
	for _, c := range []struct {
		what string
		do   func(p *polled)
		gone bool
	}{
		{"a fellow's answer in time", func(p *polled) { p.sweep(); p.free(p.nonce); p.sweep() }, true},
		{"no answer", func(p *polled) { p.sweep(); p.sweep() }, false},
		{"the last instant at which an answer counts", func(p *polled) { p.sweep(); p.pass(age / quarters); p.free(p.nonce); p.sweep() }, true},
		{"an answer that is too old beside this member's own word", func(p *polled) { p.sweep(); p.pass(age/quarters + 1); p.free(p.nonce); p.sweep() }, false},
		{"an answer to an earlier poll", func(p *polled) {
			p.sweep()
			old := p.nonce
			p.pass(age / quarters)
			p.sweep()
			p.free(old)
			p.sweep()
		}, false},
		{"the file is named again", func(p *polled) { p.sweep(); p.free(p.nonce); p.sweep(p.file); p.sweep() }, false},
		{"a fellow keeps it again", func(p *polled) { p.sweep(); p.free(p.nonce); p.offer(); p.sweep() }, false},
		{"a fellow keeps it again, long ago, and nobody swept since", func(p *polled) { p.sweep(); p.free(p.nonce); p.offer(); p.pass(age); p.sweep() }, false},
		{"one fellow of four, twice", func(p *polled) { p.sweep(); p.free(p.nonce); p.free(p.nonce); p.sweep() }, false},
		{"it is fetched", func(p *polled) { p.sweep(); p.free(p.nonce); p.x.Fetch(p.w, p.file, 9); p.sweep() }, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			p := newPolled(3)
			if strings.Contains(c.what, "of four") {
				p = newPolled(5)
			}
			c.do(p)
			if _, here := p.x.Have(p.file); here == c.gone {
				t.Errorf("the file is here: %v, want %v", here, !c.gone)
			}
		})
	}
}

// The answer to a peer's poll: files that are neither named here nor kept within SweepAge.
func TestWhatAPollIsAnswered(t *testing.T) {
	age := Default().SweepAge
	for _, c := range []struct {
		what string
		do   func(p *polled)
		free bool
	}{
		{"not named, and old", func(p *polled) { p.ask(p.file); p.sweep() }, true},
		{"not here at all", func(p *polled) { p.file = fileN(7); p.ask(p.file); p.sweep() }, true},
		{"named", func(p *polled) { p.ask(p.file); p.sweep(p.file) }, false},
		{"named, and not here", func(p *polled) { p.file = fileN(7); p.ask(p.file); p.sweep(p.file) }, false},
		{"kept an instant less than SweepAge ago", func(p *polled) { p.offer(); p.pass(age - 1); p.ask(p.file); p.sweep() }, false},
		{"kept SweepAge ago", func(p *polled) { p.offer(); p.pass(age); p.ask(p.file); p.sweep() }, true},
		{"asked, and no sweep yet", func(p *polled) { p.ask(p.file) }, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			p := newPolled(3)
			c.do(p)
			if got := slices.Contains(p.told, p.file); got != c.free {
				t.Errorf("told that it may go: %v, want %v", got, c.free)
			}
		})
	}
}

// A member answers all of a peer's question, one page at a time; a later poll replaces an
// earlier one.
func TestAllPagesOfAPollAreAnswered(t *testing.T) {
	p := newPolled(3)
	p.x.config.SweepPage = 2
	p.w.ReceiveDatagram(peer(2), &message.FileSweep{Group: "gates", Nonce: 4, Files: []message.FileDigest{fileN(9)}})
	for page := range slices.Chunk([]message.FileDigest{fileN(1), fileN(2), fileN(3), fileN(4), fileN(5)}, 2) {
		p.w.ReceiveDatagram(peer(2), &message.FileSweep{Group: "gates", Nonce: 5, Files: page})
	}
	p.sweep(fileN(2))
	if want := []message.FileDigest{fileN(1), fileN(3), fileN(4), fileN(5)}; !slices.Equal(p.told, want) {
		t.Errorf("told of %v, want %v", p.told, want)
	}
}

// A role does not write a record that follows its Keep too late: two quarters of SweepAge.
func TestAFileGrowsStale(t *testing.T) {
	p := newPolled(1)
	for _, c := range []struct {
		pass  time.Duration
		stale bool
	}{{0, false}, {2*p.x.config.quarter() - 1, false}, {1, true}} {
		if c.pass == 0 {
			p.keep()
		}
		p.pass(c.pass)
		if got := p.x.Stale(p.w, p.file); got != c.stale {
			t.Errorf("stale: %v after %v more, want %v", got, c.pass, c.stale)
		}
	}
	if !p.x.Stale(p.w, fileN(7)) {
		t.Error("what was never kept here is not stale")
	}
}

// polled is one archive of three or five whose only file is SweepAge old.
type polled struct {
	w     *nodetest.Env
	x     *toy
	file  message.FileDigest
	nonce uint64               // of the last poll
	told  []message.FileDigest // files that peers may sweep, by this member's answers
}

func fileN(n int) message.FileDigest { return message.FileDigest{byte(n)} }

func newPolled(members int) *polled {
	p := &polled{}
	p.w = world(1, members, nil)
	p.w.Discard = true
	p.w.Start()
	p.x = p.w.Machine().(*toy)
	p.x.post = func(_ node.Addr, m node.Message) {
		switch m := m.(type) {
		case *message.FileSweep:
			p.nonce = m.Nonce
		case *message.FileFree:
			p.told = append(p.told, m.Files...)
		}
	}
	p.keep()
	p.pass(p.x.config.SweepAge)
	return p
}

func (p *polled) keep() {
	p.file = p.x.Keep(p.w, content(1), 1)
	p.w.Complete(p.w.Pending(), nil)
}
func (p *polled) free(nonce uint64) {
	p.w.ReceiveDatagram(peer(2), &message.FileFree{Group: "gates", Nonce: nonce, Files: []message.FileDigest{p.file}})
}
func (p *polled) pass(d time.Duration) { p.w.Advance(d) }
func (p *polled) offer() {
	p.w.ReceiveDatagram(peer(3), &message.FileOffer{Group: "gates", File: p.file, Length: uint64(len(content(1))), Nonce: 1})
}
func (p *polled) ask(d message.FileDigest) {
	p.w.ReceiveDatagram(peer(2), &message.FileSweep{Group: "gates", Nonce: 5, Files: []message.FileDigest{d}})
}
func (p *polled) sweep(used ...message.FileDigest) {
	in := map[message.FileDigest]bool{}
	for _, d := range used {
		in[d] = true
	}
	p.x.Sweep(p.w, in)
}
