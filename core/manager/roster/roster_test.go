package roster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// twin is a worker as its messages describe it, without any order or index.
type twin struct {
	peer              node.Peer
	stream            node.StreamID
	sequence          uint64
	total, reported   uint32
	draining, suspect bool
	used, slots       uint32
	spared            node.Instant
	lists             []message.ShardRef
	given             map[message.ShardID]Given
}

// loaded says that it has much of its slots in use, or is spared.
func (w *twin) loaded() bool { return w.slots > 0 && 5*w.used >= 4*w.slots || w.spared != 0 }

func (w *twin) free() uint32 {
	n := int64(w.reported)
	//lint:orderfree a sum
	for id, g := range w.given {
		if !slices.Contains(w.lists, message.ShardRef{Shard: id, Fence: g.Fence}) {
			n -= int64(g.Cores)
		}
	}
	return uint32(max(0, n))
}

// most is how many workers may register.
const most = 3

// hall is a roster and its twin.
type hall struct {
	r      *Roster
	known  map[node.ID]*twin
	lines  map[node.StreamID]node.ID // open streams of registered workers
	next   node.StreamID
	number map[uint64]bool
}

func drawID(t *rapid.T) node.ID {
	return node.ID(fmt.Sprint("w", rapid.IntRange(1, 4).Draw(t, "worker")))
}

func drawShard(t *rapid.T) message.ShardID {
	return message.ShardID{Ordinal: rapid.Uint32Range(0, 4).Draw(t, "shard")}
}

func drawFence(t *rapid.T) message.Fence {
	return message.Fence{Attempt: rapid.Uint64Range(1, 2).Draw(t, "attempt")}
}

// worker draws a known worker, and its twin.
func (h *hall) worker(t *rapid.T) (*Worker, *twin) {
	id := drawID(t)
	w, m := h.r.Of(id), h.known[id]
	if w == nil {
		t.Skip("it is not known")
	}
	return w, m
}

func (h *hall) register(t *rapid.T) {
	p := node.Peer{ID: drawID(t), Role: node.RoleWorker, Incarnation: rapid.Uint64Range(1, 3).Draw(t, "incarnation")}
	p.Addr = node.Addr(fmt.Sprint(p.ID, ":", rapid.IntRange(1, 2).Draw(t, "port")))
	h.next++
	s := h.next
	h.r.Opened(s, 0)
	got := h.r.Register(p, s, most)
	m := h.known[p.ID]
	ok := m == nil && len(h.known) < most || m != nil && (p.Incarnation > m.peer.Incarnation || p == m.peer)
	if (got.Worker != nil) != ok || ok == (got.Why != "") {
		t.Fatalf("%+v registers: %+v, want that it may: %v", p, got, ok)
	}
	if !ok {
		return
	}
	left, fresh, restarted := node.StreamID(0), m == nil || m.peer != p, m != nil && m.peer != p
	if m == nil {
		m = &twin{given: map[message.ShardID]Given{}}
		h.known[p.ID] = m
		if h.number[got.Worker.Number] {
			t.Fatalf("%v has the number of another worker", p)
		}
		h.number[got.Worker.Number] = true
	}
	left, m.peer, m.stream, m.sequence = m.stream, p, s, 0
	delete(h.lines, left)
	h.lines[s] = p.ID
	if got.Left != left || got.Fresh != fresh || got.Restarted != restarted {
		t.Fatalf("%v registers: %+v, want that it left %v, fresh %v, restarted %v", p, got, left, fresh, restarted)
	}
}

func (h *hall) heartbeat(t *rapid.T) {
	w, m := h.worker(t)
	hb := &message.WorkerHeartbeat{
		Sequence: rapid.Uint64Range(1, 5).Draw(t, "sequence"), Draining: rapid.IntRange(0, 3).Draw(t, "draining") == 3,
		CoresTotal: rapid.Uint32Range(1, 8).Draw(t, "total"), CoresFree: rapid.Uint32Range(0, 9).Draw(t, "free"),
	}
	if rapid.Bool().Draw(t, "tells slots") {
		hb.SlotsUsed, hb.SlotsMax = rapid.Uint32Range(6, 9).Draw(t, "used"), 10
	}
	if rapid.Bool().Draw(t, "as before") { // but for the shards
		hb.Sequence, hb.Draining, hb.CoresTotal, hb.CoresFree, hb.SlotsUsed, hb.SlotsMax = m.sequence+1, m.draining, m.total, m.reported, m.used, m.slots
	}
	for _, id := range rapid.SliceOfNDistinct(rapid.Custom(drawShard), 0, 3, rapid.ID[message.ShardID]).Draw(t, "lists") {
		hb.Running = append(hb.Running, message.ShardRef{Shard: id, Fence: drawFence(t)})
	}
	news := hb.Sequence > m.sequence
	if got := h.r.Heartbeat(w, hb); got != news {
		t.Fatalf("heartbeat %d behind %d is news: %v", hb.Sequence, m.sequence, got)
	}
	if news {
		m.sequence, m.draining, m.lists = hb.Sequence, hb.Draining, hb.Running
		m.total, m.reported = hb.CoresTotal, min(hb.CoresFree, hb.CoresTotal)
		m.used, m.slots = hb.SlotsUsed, hb.SlotsMax
	}
}

func (h *hall) give(t *rapid.T) {
	w, m := h.worker(t)
	id, g := drawShard(t), Given{Fence: drawFence(t), Cores: rapid.Uint32Range(1, 4).Draw(t, "cores")}
	h.r.Give(w, id, g)
	m.given[id] = g
}

// take also takes former attempts, which does not affect the current ones.
func (h *hall) take(t *rapid.T) {
	w, m := h.worker(t)
	id, f := drawShard(t), drawFence(t)
	h.r.Take(w.Peer.ID, id, f)
	if m.given[id].Fence == f {
		delete(m.given, id)
	}
}

func (h *hall) judge(t *rapid.T) {
	able, loaded, cores, total := 0, 0, uint64(0), uint64(0)
	for i, w := range h.r.All() {
		m := h.known[w.Peer.ID]
		switch {
		case m == nil || h.r.Of(w.Peer.ID) != w || h.r.Numbered(w.Number) != w || i > 0 && h.r.All()[i-1].Peer.ID >= w.Peer.ID:
			t.Fatalf("%+v is listed", w)
		case w.Peer != m.peer || w.Stream != m.stream || w.Total != m.total || w.Draining != m.draining || w.Suspect != m.suspect || w.Sequence != m.sequence:
			t.Fatalf("%+v is known, want %+v", w, m)
		case w.Free() != m.free():
			t.Fatalf("of %+v %d cores are free, want %d", m, w.Free(), m.free())
		case len(w.Given()) != len(m.given):
			t.Fatalf("%v is given %v, want %v", w.Peer.ID, w.Given(), m.given)
		}
		switch stands := m.stream != 0 && !m.draining && !m.suspect; {
		case stands && m.loaded():
			loaded++
		case stands:
			able, cores, total = able+1, cores+uint64(m.free()), total+uint64(m.total)
		}
	}
	if n := h.r.Loaded(); n != loaded {
		t.Fatalf("%d workers are loaded, want %d", n, loaded)
	}
	if h.r.Len() != len(h.known) {
		t.Fatalf("%d workers are known, want %d", h.r.Len(), len(h.known))
	}
	free, all := h.r.Ranking().Cores()
	if n := h.r.Ranking().Len(); n != able || free != cores || all != total {
		t.Fatalf("%d workers with %d of %d cores are ranked, want %d with %d of %d", n, free, all, able, cores, total)
	}
	//lint:orderfree any one that is found fails the test
	for s, id := range h.lines {
		if w, ok := h.r.On(s); !ok || w == nil || w.Peer.ID != id || w.Stream != s {
			t.Fatalf("stream %d of %s has %+v", s, id, w)
		}
	}
}

// A roster knows what each worker's messages say, whatever comes and goes: its free cores, and
// whether it can receive shards.
func TestRosterFollowsItsWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &hall{r: New(), known: map[node.ID]*twin{}, lines: map[node.StreamID]node.ID{}, number: map[uint64]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"register":  h.register,
			"again":     h.register,
			"heartbeat": h.heartbeat,
			"give":      h.give,
			"take":      h.take,
			"refused": func(t *rapid.T) {
				w, m := h.worker(t)
				free := rapid.Uint32Range(0, 9).Draw(t, "free")
				h.r.Refused(w, &message.ShardRefused{CoresFree: free})
				m.reported = min(free, m.total)
			},
			"drains": func(t *rapid.T) {
				w, m := h.worker(t)
				h.r.Drains(w)
				m.draining = true
			},
			"spare": func(t *rapid.T) {
				w, m := h.worker(t)
				m.spared = node.Instant(rapid.IntRange(0, 1).Draw(t, "until"))
				h.r.Spare(w, m.spared)
			},
			"suspect": func(t *rapid.T) {
				w, m := h.worker(t)
				m.suspect = rapid.Bool().Draw(t, "suspect")
				h.r.Suspect(w, m.suspect)
			},
			"breaks": func(t *rapid.T) {
				w, m := h.worker(t)
				if m.stream == 0 {
					t.Skip("it is away")
				}
				if got := h.r.Broken(m.stream); got != w {
					t.Fatalf("%+v is away, want %+v", got, w)
				}
				delete(h.lines, m.stream)
				m.stream = 0
			},
			"drop": func(t *rapid.T) {
				w, m := h.worker(t)
				if left := h.r.Drop(w); left != m.stream {
					t.Fatalf("it leaves stream %d, want %d", left, m.stream)
				}
				delete(h.lines, m.stream)
				delete(h.known, m.peer.ID)
			},
			"": h.judge,
		})
	})
}

// A stream on which no worker registers ends after so much silence.
func TestUnmetStreamsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, now := New(), node.Instant(time.Hour)
		heard := map[node.StreamID]node.Instant{}
		stream := func(t *rapid.T) node.StreamID { return node.StreamID(rapid.IntRange(1, 5).Draw(t, "stream")) }
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				s := stream(t)
				r.Opened(s, now)
				heard[s] = now
			},
			"hear": func(t *rapid.T) {
				s := stream(t)
				r.Heard(s, now)
				if _, open := heard[s]; open {
					heard[s] = now
				}
			},
			"break": func(t *rapid.T) {
				s := stream(t)
				r.Broken(s)
				delete(heard, s)
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second)
				var want []node.StreamID
				for s := range node.StreamID(6) {
					if at, open := heard[s]; open && now.Sub(at) >= 5*time.Second {
						want = append(want, s)
						delete(heard, s)
					}
				}
				if got := r.Unmet(now, 5*time.Second); !slices.Equal(got, want) {
					t.Fatalf("streams %v end, want %v", got, want)
				}
			},
			"": func(t *rapid.T) {
				if r.Streams() != len(heard) {
					t.Fatalf("%d streams are open, want %d", r.Streams(), len(heard))
				}
			},
		})
	})
}

// A worker's free cores are those that it reported, less those of shards that it got and has
// not listed yet.
func TestFreeCountsWhatIsNotListed(t *testing.T) {
	f, g := message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}, message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 2}
	a, b, c := message.ShardID{Ordinal: 1}, message.ShardID{Ordinal: 2}, message.ShardID{Ordinal: 3}
	w := &Worker{
		Reported: 20, listed: map[message.ShardID]message.Fence{a: f, b: f},
		given: map[message.ShardID]Given{a: {Fence: f, Cores: 1}, b: {Fence: g, Cores: 4}, c: {Fence: f, Cores: 8}},
	}
	w.reckon()
	if got := w.Free(); got != 8 {
		t.Errorf("of 20 cores 12 were given since: %d are free", got)
	}
}

// The first light shard that a worker gets takes a core and opens its seats; further ones take
// these, until a heartbeat lists them.
func TestLightShardsTakeSeats(t *testing.T) {
	f := message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}
	r := New()
	w := r.Register(node.Peer{ID: "w1", Incarnation: 1}, 1, 9).Worker
	r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 2, CoresFree: 2})
	for i := range uint32(message.CoreSeats + 1) {
		id := message.ShardID{Ordinal: i}
		r.Give(w, id, w.Takes(f, 1, message.TenancyLight))
		cores, seats := 1-i/message.CoreSeats, message.CoreSeats-1-i%message.CoreSeats
		if w.Free() != cores || w.FreeSeats() != seats {
			t.Errorf("after %d light shards %d cores and %d seats are free, want %d and %d", i+1, w.Free(), w.FreeSeats(), cores, seats)
		}
		if free, _ := r.Seats().Cores(); free != uint64(seats) {
			t.Errorf("after %d light shards %d seats are ranked, want %d", i+1, free, seats)
		}
	}
	r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 2, CoresTotal: 2, CoresFree: 1, SeatsFree: 5, Running: []message.ShardRef{
		{Shard: message.ShardID{Ordinal: 0}, Fence: f}, {Shard: message.ShardID{Ordinal: 1}, Fence: f}, {Shard: message.ShardID{Ordinal: 2}, Fence: f},
	}})
	if w.FreeSeats() != message.CoreSeats-1 {
		t.Errorf("%d seats are free", w.FreeSeats())
	}
	if g := w.Takes(f, 1, message.TenancyMachine); g.Cores != w.Free() {
		t.Errorf("a shard that runs alone takes %d of %d free cores", g.Cores, w.Free())
	}
	r.Drop(w)
	if n := r.Seats().Len(); n > 0 {
		t.Errorf("the seats of %d workers are ranked, and none is known", n)
	}
}

// A shard that joins cores of its job keeps them when the others end before a heartbeat lists it.
func TestJoinedCoresStayTaken(t *testing.T) {
	f := message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}
	r := New()
	w := r.Register(node.Peer{ID: "w1", Incarnation: 1}, 1, 9).Worker
	r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 2, CoresFree: 2})
	first, second := message.ShardID{Workflow: 1}, message.ShardID{Workflow: 2}
	r.Give(w, first, w.Takes(f, 2, message.TenancyJob))
	r.Give(w, second, w.Takes(f, 1, message.TenancyJob))
	if r.Take("w1", first, f); w.Free() != 1 {
		t.Errorf("%d of 2 cores are free, and a shard has one of them", w.Free())
	}
}

// A worker that is kept for a workflow is known until it tells otherwise, opens another stream, or is
// dropped.
func TestKeptWorkersAreKnown(t *testing.T) {
	r := New()
	register := func(id node.ID, stream node.StreamID) *Worker {
		return r.Register(node.Peer{ID: id, Incarnation: 1}, stream, 9).Worker
	}
	a, b := register("a", 1), register("b", 2)
	first, second := Held{Job: message.JobID{1}}, Held{Job: message.JobID{1}, Workflow: 1, Known: true}
	for _, c := range []struct {
		what string
		do   func()
		but  Held
		want *Worker
	}{
		{"none tells anything", func() {}, Held{}, nil},
		{"b is kept", func() { r.Hold(b, first) }, Held{}, b},
		{"for the one that asks", func() {}, first, nil},
		{"for another workflow of the job", func() {}, second, b},
		{"a is kept, too", func() { r.Hold(a, second) }, Held{}, a},
		{"a is kept for the one that asks", func() {}, second, b},
		{"a tells that it is free", func() { r.Hold(a, Held{}) }, Held{}, b},
		{"b opens another stream", func() { register("b", 3) }, Held{}, nil},
		{"b tells it there", func() { r.Hold(b, first) }, Held{}, b},
		{"b is dropped", func() { r.Drop(b) }, Held{}, nil},
	} {
		c.do()
		if got := r.HeldBut(c.but.Job, c.but.Workflow); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
	if r.held != 0 {
		t.Errorf("%d workers are kept, and none is registered that is", r.held)
	}
}

// A heartbeat that differs from the one before in the shards that it lists alone changes what is free.
func TestAHeartbeatMayDifferInItsShards(t *testing.T) {
	r, all := fleet(1)
	w, f := all[0], message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}
	r.Give(w, message.ShardID{Ordinal: 1}, Given{Fence: f, Cores: 3})
	for i, c := range []struct {
		lists []message.ShardRef
		free  uint32
	}{{nil, 1}, {[]message.ShardRef{{Shard: message.ShardID{Ordinal: 1}, Fence: f}}, 4}, {nil, 1}} {
		r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: uint64(2 + i), CoresTotal: 4, CoresFree: 4, Running: c.lists})
		free, _ := r.Ranking().Cores()
		if w.Free() != c.free || free != uint64(c.free) {
			t.Errorf("heartbeat %d: %d cores are free, and %d are ranked, want %d", i+1, w.Free(), free, c.free)
		}
	}
}
