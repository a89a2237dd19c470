package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// group is three archives and the messages between them.
type group struct {
	t     *rapid.T
	envs  [3]*nodetest.Env
	toys  [3]*toy
	wires []wire
	now   int
	lost  [3]int         // when its disk was last lost
	since map[uint64]int // when a Keep began, by ticket
	open  [3]map[uint64]message.FileDigest
	want  map[message.FileDigest][]byte
	next  uint64 // ticket
}

type wire struct {
	from, to int
	m        node.Message
}

func newGroup(t *rapid.T) *group {
	g := &group{t: t, want: map[message.FileDigest][]byte{}, since: map[uint64]int{}, lost: [3]int{-1, -1, -1}}
	for i := range g.envs {
		g.envs[i] = world(i+1, 3, func(x *toy) {
			g.toys[i], g.open[i] = x, map[uint64]message.FileDigest{}
			x.post = func(to node.Addr, m node.Message) {
				g.wires = append(g.wires, wire{i, int(to[1] - '1'), m})
			}
			x.outcome = func(o Outcome) { g.judge(i, o) }
		})
		g.envs[i].Discard = true
		g.envs[i].Start()
	}
	return g
}

func (g *group) has(i int, d message.FileDigest) bool {
	for _, k := range g.envs[i].Disk() {
		if strings.HasSuffix(k, fmt.Sprintf("%x/whole", d[:])) {
			return true
		}
	}
	return false
}

// judge checks ARCHIVE-1 and ARCHIVE-2 at the moment of each outcome.
func (g *group) judge(i int, o Outcome) {
	if d, ok := g.open[i][o.Ticket]; !ok || d != o.File {
		g.t.Fatalf("node %d is told %v of ticket %d, which is not open for %v", i, o.Kind, o.Ticket, o.File)
	}
	delete(g.open[i], o.Ticket)
	switch o.Kind {
	case Kept:
		count := 0
		for j := range g.envs {
			if g.has(j, o.File) || g.lost[j] >= g.since[o.Ticket] {
				count++
			}
		}
		if count < 2 {
			g.t.Fatalf("node %d is told Kept of %v, which is on %d disks", i, o.File, count)
		}
	case Fetched:
		if !bytes.Equal(o.Bytes, g.want[o.File]) {
			g.t.Fatalf("node %d is told Fetched of %v with other bytes", i, o.File)
		}
	case Failed:
		if !errors.Is(o.Err, ErrMissing) && !errors.Is(o.Err, ErrDigest) && !errors.Is(o.Err, ErrUnreachable) && !errors.Is(o.Err, ErrFull) {
			g.t.Fatalf("node %d is told: %v", i, o.Err)
		}
	}
}

// content is one of seven files, of one record to many.
func content(file int) []byte {
	sizes := []int{1, 1000, 1024, 1025, 5000, 17000, 20480}
	return bytes.Repeat([]byte{byte(file)}, sizes[file])
}

func (g *group) keep(i, file int) {
	b := content(file)
	d := message.FileDigest(sha256.Sum256(b))
	g.want[d] = b
	g.next++
	g.since[g.next] = g.now
	g.open[i][g.next] = d
	g.envs[i].Command(&message.FileChunk{Group: "x", File: d, Length: 1, Nonce: g.next, Data: b})
}

// deliver delivers one message, perhaps damaged, and perhaps keeps a copy for later.
func (g *group) deliver(n int, again, damage bool) {
	w := g.wires[n]
	if !again {
		g.wires = append(g.wires[:n:n], g.wires[n+1:]...)
	}
	if c, ok := w.m.(*message.FileChunk); ok && damage {
		bad := *c
		bad.Data = append([]byte{c.Data[0] + 1}, c.Data[1:]...)
		w.m = &bad
	}
	if g.envs[w.to].Running() {
		g.envs[w.to].ReceiveDatagram(peer(w.from+1), w.m)
	}
}

func (g *group) restart(i int, lost bool) {
	e := g.envs[i]
	g.now++
	e.Complete(e.Pending()/2, nil) // a crash preserves a prefix of the open writes
	e.Crash()
	if lost {
		e.LoseDisk()
		g.lost[i] = g.now
	}
	e.Start()
}

// The network loses, doubles, reorders and damages messages; nodes crash and lose disks. Each
// file reported Kept is on a majority, each Fetched file is right. Once all is well every
// request ends, and every Keep ends in Kept.
func TestKeptIsOnAMajority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t)
		draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		t.Repeat(map[string]func(*rapid.T){
			"keep": func(*rapid.T) { g.keep(draw("node", 3), draw("file", 7)) },
			"fetch": func(*rapid.T) {
				b := content(draw("file", 7))
				i, d := draw("node", 3), message.FileDigest(sha256.Sum256(b))
				g.want[d] = b
				g.next++
				g.open[i][g.next] = d
				g.envs[i].Command(&message.FileFetch{Group: "x", File: d, Offset: g.next})
			},
			"deliver": func(t *rapid.T) {
				for range draw("messages", 20) {
					if len(g.wires) > 0 {
						g.deliver(draw("which", min(4, len(g.wires))), draw("again", 10) == 0, draw("damage", 20) == 0)
					}
				}
			},
			"lose":    func(*rapid.T) { g.wires = g.wires[:draw("left", len(g.wires)+1)] },
			"wait":    func(*rapid.T) { g.envs[draw("node", 3)].Advance(time.Duration(draw("ms", 3000)) * time.Millisecond) },
			"disk":    func(*rapid.T) { i := draw("node", 3); g.envs[i].Held = !g.envs[i].Held },
			"written": func(*rapid.T) { g.envs[draw("node", 3)].Complete(draw("puts", 5), nil) },
			"full": func(*rapid.T) {
				i := draw("node", 3)
				if g.envs[i].Failure == nil {
					g.envs[i].Failure = errors.New("full")
				} else {
					g.envs[i].Failure = nil
				}
			},
			"restart": func(*rapid.T) { g.restart(draw("node", 3), draw("disk", 4) == 0) },
			"":        func(t *rapid.T) { g.holds() },
		})
		g.heal()
	})
}

// holds checks what is true at all times.
func (g *group) holds() {
	for i, x := range g.toys {
		var sum int64
		//lint:orderfree a sum, and checks of each alone
		for d, f := range x.files {
			sum += int64(f.length)
			if b, ok := x.Have(d); ok && !bytes.Equal(b, g.want[d]) {
				g.t.Fatalf("node %d has %v with other bytes", i, d)
			}
			if (f.bytes == nil) != (x.arriving[d] == f) {
				g.t.Fatalf("node %d: %v is whole: %v, and arriving: %v", i, d, f.bytes != nil, x.arriving[d] != nil)
			}
		}
		if sum != x.bytes || len(x.arriving) > len(x.files) {
			g.t.Fatalf("node %d counts %d bytes, has %d", i, x.bytes, sum)
		}
		for _, w := range x.fellows {
			flight := uint64(0)
			for t := range w.active() {
				flight += t.sent - t.acked
			}
			if flight > window+uint64(x.config.ChunkBytes) {
				g.t.Fatalf("node %d has %d bytes in flight to %s", i, flight, w.addr)
			}
		}
	}
}

func (g *group) heal() {
	for _, e := range g.envs {
		e.Held, e.Failure = false, nil
		for e.Pending() > 0 { // a piece that is written begins the next one
			e.Complete(1, nil)
		}
	}
	for range 60 {
		for len(g.wires) > 0 {
			g.deliver(0, false, false)
		}
		for _, e := range g.envs {
			e.Advance(500 * time.Millisecond)
		}
	}
	for i := range g.open {
		if len(g.open[i]) > 0 {
			g.t.Fatalf("node %d still waits for %v", i, g.open[i])
		}
		if x := g.toys[i]; x.armed || x.fetching != 0 || len(x.asked) != 0 || len(x.writes) != 0 {
			g.t.Fatalf("node %d: all is done, and yet: timer %v, %d fetches, %d wait, %d writes", i, x.armed, x.fetching, len(x.asked), len(x.writes))
		}
	}
}

// A file of two pieces or more comes while the disk is busy, and its sender restarts: no message
// comes any more. Once the disk is well, all pieces are written.
func TestPiecesAreWrittenWithoutFurtherMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t)
		g.envs[2].Held = true
		g.keep(1, rapid.IntRange(3, 6).Draw(t, "file"))
		for len(g.wires) > 0 {
			g.deliver(0, false, false)
		}
		g.restart(1, true)
		g.wires = nil
		g.envs[2].Advance(time.Minute) // it waits for its disk alone
		g.heal()
		//lint:orderfree checks of each alone
		for d := range g.want {
			if !g.has(2, d) {
				t.Fatalf("the disk of node 2 lacks %v", d)
			}
		}
	})
}

// A member ignores, answers or takes any message of any sender, and never panics.
func TestHostileMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := world(1, 3, nil)
		e.Discard = true
		e.Start()
		number := rapid.OneOf(rapid.Uint64Range(0, 3000), rapid.SampledFrom([]uint64{FileMax, FileMax + 1, 1 << 63, ^uint64(0)}))
		for range rapid.IntRange(1, 30).Draw(t, "messages") {
			d := message.FileDigest{byte(rapid.IntRange(1, 3).Draw(t, "file"))}
			group := rapid.SampledFrom([]string{"gates", "gates", "gates", "dc1"}).Draw(t, "group")
			length, offset, nonce := max(1, number.Draw(t, "length")), number.Draw(t, "offset"), max(1, number.Draw(t, "nonce"))
			var m node.Message
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				m = &message.FileOffer{Group: group, File: d, Length: length, Nonce: nonce}
			case 1:
				m = &message.FileChunk{Group: group, File: d, Length: length, Offset: offset, Nonce: nonce - 1, Data: make([]byte, rapid.IntRange(0, 3000).Draw(t, "data"))}
			case 2:
				m = &message.FileKept{Group: group, File: d, Nonce: nonce, Next: offset, Whole: nonce%2 == 0}
			case 3:
				m = &message.FileFetch{Group: group, File: d, Offset: offset}
			case 4:
				m = &message.FileMissing{Group: group, File: d}
			case 5:
				e.Command(&message.FileFetch{Group: "x", File: d, Offset: uint64(rapid.IntRange(1, 200).Draw(t, "ticket"))})
				continue
			}
			e.ReceiveDatagram(peer(rapid.IntRange(1, 4).Draw(t, "from")), m)
			e.Advance(time.Duration(rapid.IntRange(0, 700).Draw(t, "ms")) * time.Millisecond)
		}
	})
}

// A late answer of a peer from before it lost its disk: ARCHIVE-1 forbids a later Keep to count
// it.
func TestAnAnswerFromBeforeALostDiskCountsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t)
		file := rapid.IntRange(0, 6).Draw(t, "file")
		g.keep(0, file)
		var late []wire
		for len(g.wires) > 0 {
			if k, ok := g.wires[0].m.(*message.FileKept); ok && k.Whole {
				late = append(late, g.wires[0])
			}
			g.deliver(0, false, false)
		}
		g.restart(1, true)
		g.restart(2, true)
		g.now++
		if rapid.Bool().Draw(t, "restart") {
			g.restart(0, false)
		}
		g.keep(0, file)
		g.wires = nil
		for _, w := range late {
			g.wires = []wire{w}
			g.deliver(0, false, false)
		}
		g.wires = nil
		g.heal()
	})
}

// The same answer, while a Keep is still open: a Keep that joins it starts its own round.
func TestAKeepThatJoinsAnotherAsksAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t)
		file := rapid.IntRange(0, 6).Draw(t, "file")
		g.envs[0].Held = true // the first Keep waits for its own disk
		g.keep(0, file)
		for rounds := 0; len(g.wires) > 0 && rounds < 200; rounds++ {
			w := g.wires[0]
			if w.from == 2 || w.to == 2 {
				g.wires = g.wires[1:]
				continue
			}
			g.deliver(0, false, false)
		}
		g.restart(1, true)
		g.now++
		for range rapid.IntRange(1, 3).Draw(t, "keeps") {
			g.keep(0, file)
		}
		g.heal()
	})
}

func TestManyFetchesTakeTurns(t *testing.T) {
	e := world(1, 3, nil)
	var asked int
	e.Discard = true
	e.Start()
	x := e.Machine().(*toy)
	x.post = func(_ node.Addr, m node.Message) { asked++ }
	ended := 0
	x.outcome = func(o Outcome) { ended++ }
	x.config.FilesMax = 1000
	const n = 5 * activeMax
	for i := range n {
		e.Command(&message.FileFetch{Group: "x", File: message.FileDigest{byte(i + 1)}, Offset: uint64(i + 1)})
	}
	if asked != activeMax {
		t.Fatalf("%d files are asked for at a time, want %d", asked, activeMax)
	}
	for i := range n {
		for _, from := range []int{2, 3} {
			e.ReceiveDatagram(peer(from), &message.FileMissing{Group: "gates", File: message.FileDigest{byte(i + 1)}})
		}
	}
	if ended != n {
		t.Fatalf("%d of %d fetches ended", ended, n)
	}
}

// One of three keeps one file, and all write it, without the network.
func BenchmarkKeep(b *testing.B) {
	for _, size := range []int{10 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			bytes := make([]byte, size)
			var wires []wire
			var envs [3]*nodetest.Env
			for i := range envs {
				envs[i] = nodetest.New(nodetest.Config{Self: peer(i + 1), Seed: 1, New: func() node.Machine {
					c := config(i+1, 3)
					c.ChunkBytes, c.BytesMax = 128<<10, 8<<20
					x := newToy(c)
					x.post = func(to node.Addr, m node.Message) { wires = append(wires, wire{i, int(to[1] - '1'), m}) }
					return x
				}})
				envs[i].Discard = true
				envs[i].Start()
			}
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for n := uint64(1); b.Loop(); n++ {
				binary.BigEndian.PutUint64(bytes, n)
				file := slices.Clone(bytes)
				x := envs[0].Machine().(*toy)
				d := x.Keep(envs[0], file, n)
				for len(wires) > 0 {
					w := wires[0]
					wires = wires[1:]
					e := envs[w.to]
					e.Machine().(*toy).Receive(e, peer(w.from+1), w.m)
					for _, e := range envs {
						e.Complete(e.Pending(), nil)
					}
				}
				if got := x.Take(); len(got) != 1 || got[0].Kind != Kept {
					b.Fatalf("got %v", got)
				}
				for _, e := range envs {
					e.Machine().(*toy).Drop(e, d)
					e.Complete(e.Pending(), nil)
				}
			}
		})
	}
}
