package node_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// note is a message of which a test chooses everything.
type note struct {
	lane    node.Priority
	counter int
	full    node.Full
	kind    node.Kind
	subject uint64
	size    int
}

func (n note) Kind() node.Kind         { return n.kind }
func (n note) Priority() node.Priority { return n.lane }
func (n note) Full() node.Full         { return n.full }
func (n note) Subject() uint64         { return n.subject }
func (n note) Size() int               { return n.size }
func (n note) Digest() uint64          { return uint64(n.counter) }
func (n note) Stub() node.Message      { return note{counter: n.counter, kind: n.kind} }

// bounds are small enough for a test to reach them.
func bounds(lane int) node.MailboxConfig {
	return node.MailboxConfig{Lanes: [node.Priorities]int{lane, lane, lane, lane}, Latest: 6, Bytes: 60, Stubs: 3}
}

// model is the simplest mailbox: a lane is a list of places, each of them of a stream, and each
// stream has a list of messages. What a newer message replaces leaves that list, and the newer one
// goes to its end.
type model struct {
	config node.MailboxConfig
	lanes  [node.Priorities]modelLane
	stubs  int
}

type modelLane struct {
	places []int // streams; a datagram is a stream of its own
	queues map[int][]node.Input
}

func (l *modelLane) totals() (bounded, latest, bytes int) {
	//lint:orderfree sums
	for _, q := range l.queues {
		for _, in := range q {
			switch n, _ := in.Message.(note); {
			case in.Kind != node.InputMessage:
			case n.full == node.Latest:
				latest, bytes = latest+1, bytes+n.size
			default:
				bounded, bytes = bounded+1, bytes+n.size
			}
		}
	}
	return bounded, latest, bytes
}

func (l *modelLane) add(stream int, in node.Input) {
	l.places = append(l.places, stream)
	l.queues[stream] = append(l.queues[stream], in)
}

func (m *model) push(in node.Input, stream int) node.Fate {
	n := in.Message.(note)
	l := &m.lanes[n.lane]
	bounded, latest, bytes := l.totals()
	if n.full == node.Latest {
		for i, old := range l.queues[stream] {
			if o := old.Message.(note); o.full == node.Latest && o.kind == n.kind && o.subject == n.subject && (n.size <= o.size || bytes-o.size+n.size <= m.config.Bytes) {
				l.queues[stream] = append(slices.Delete(l.queues[stream], i, i+1), in)
				return node.FateReplaced
			}
		}
	}
	room := bytes+n.size <= m.config.Bytes || bounded+latest == 0
	switch {
	case n.full == node.Latest && latest < m.config.Latest && room, n.full != node.Latest && bounded < m.config.Lanes[n.lane] && room:
		l.add(stream, in)
		return node.FateQueued
	case in.Stream == 0, n.full == node.Drop, n.full == node.Latest && n.lane != node.Critical:
		return node.FateDropped
	case n.full == node.Refuse && m.stubs < m.config.Stubs:
		m.stubs++
		in.Kind, in.Message = node.InputShed, n.Stub()
		m.lanes[node.High].add(stream, in)
		return node.FateRefused
	}
	return node.FateRejected
}

func (m *model) pop() (in node.Input, ok bool) {
	for p := range m.lanes {
		l := &m.lanes[p]
		if len(l.places) == 0 {
			continue
		}
		stream := l.places[0]
		l.places, in = l.places[1:], l.queues[stream][0]
		l.queues[stream] = l.queues[stream][1:]
		if in.Kind == node.InputShed {
			m.stubs--
		}
		return in, true
	}
	return in, false
}

// The mailbox serves the most urgent lane. Within a lane, each stream's messages keep their
// order, less what a newer one has replaced, and each stream keeps its places.
func TestMailboxIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := bounds(rapid.IntRange(1, 12).Draw(t, "bound"))
		box, twin := node.NewMailbox(c), &model{config: c}
		for p := range twin.lanes {
			twin.lanes[p].queues = map[int][]node.Input{}
		}
		counter := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				counter++
				n := note{
					lane: node.Priority(rapid.IntRange(0, node.Priorities-1).Draw(t, "lane")), counter: counter,
					full: node.Full(rapid.IntRange(0, 3).Draw(t, "full")), size: rapid.IntRange(1, 20).Draw(t, "size"),
					subject: rapid.Uint64Range(0, 2).Draw(t, "subject"), kind: node.Kind(rapid.IntRange(1, 2).Draw(t, "kind")),
				}
				n.kind += 2 * node.Kind(n.full) // a kind has one attribute
				in := node.Input{Kind: node.InputMessage, Message: n, Stream: node.StreamID(rapid.IntRange(0, 3).Draw(t, "stream"))}
				stream := int(in.Stream)
				if in.Stream == 0 { // only a newer one of its sender, kind and subject has a datagram's place
					in.From.ID = node.ID(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "from"))
					stream = -counter
					if n.full == node.Latest {
						stream = 1000 + 100*int(in.From.ID[0]) + 10*int(n.kind) + int(n.subject)
					}
				}
				if got, want := box.Push(&in, 0), twin.push(in, stream); got != want {
					t.Fatalf("push of %+v: fate %d, want %d", n, got, want)
				}
			},
			"pop": func(t *rapid.T) {
				var got node.Input
				ok := box.Pop(&got, 0)
				want, some := twin.pop()
				if ok != some || ok && (got.Message != want.Message || got.Kind != want.Kind || got.Stream != want.Stream) {
					t.Fatalf("pop: got %v %+v, want %v %+v", ok, got, some, want)
				}
			},
			"": func(t *rapid.T) {
				sum := 0
				for p := range twin.lanes {
					_, _, bytes := twin.lanes[p].totals()
					if p := node.Priority(p); box.Waiting(p) != len(twin.lanes[p].places) || box.Bytes(p) != bytes {
						t.Fatalf("lane %v: %d inputs of %d bytes wait, want %d of %d", p, box.Waiting(p), box.Bytes(p), len(twin.lanes[p].places), bytes)
					}
					sum += len(twin.lanes[p].places)
				}
				if box.Len() != sum {
					t.Fatalf("len %d, want %d", box.Len(), sum)
				}
				box.Sizes(func(what string, n, bound int) {
					if n < 0 || n > bound {
						t.Fatalf("%d of %s, bounded by %d", n, what, bound)
					}
				})
			},
		})
	})
}

// A peer that sends often keeps its turn.
func TestMailboxLetsNoFastSenderStarve(t *testing.T) {
	box := node.NewMailbox(node.DefaultMailbox())
	send := func(stream node.StreamID, counter int) {
		box.Push(&node.Input{Kind: node.InputMessage, Stream: stream, Message: note{counter: counter, full: node.Latest}}, node.Instant(counter))
	}
	send(1, 1)
	send(2, 2)
	for counter := 3; counter < 100; counter++ {
		send(1, counter)
	}
	var in node.Input
	if box.Pop(&in, 100); in.Stream != 1 || in.Message.(note).counter != 99 {
		t.Fatalf("served %v of stream %d first, want the newest of stream 1", in.Message, in.Stream)
	}
	if in.Waited != 99 {
		t.Errorf("its place waited %v, want 99ns", in.Waited)
	}
}

// A message of thousands of peers fits, whatever of it is replaced.
func TestMailboxHoldsTheNewestOfEachPeer(t *testing.T) {
	box := node.NewMailbox(node.DefaultMailbox())
	for counter := range 100_000 {
		in := &node.Input{Kind: node.InputMessage, Stream: node.StreamID(1 + counter%10_000), Message: note{counter: counter, full: node.Latest, size: 200}}
		if f := box.Push(in, 0); f == node.FateRejected || f == node.FateDropped {
			t.Fatalf("message %d: fate %d", counter, f)
		}
	}
	if got := box.Len(); got != 10_000 {
		t.Errorf("%d wait, want one of each of 10,000 peers", got)
	}
}

func TestMailboxNeverRefusesWhatTheNodeSetInMotion(t *testing.T) {
	box := node.NewMailbox(bounds(1))
	for _, kind := range []node.InputKind{node.InputTimer, node.InputStored, node.InputExec, node.InputStreamBroken, node.InputTimer} {
		if f := box.Push(&node.Input{Kind: kind}, 0); f != node.FateQueued {
			t.Errorf("a %v had fate %d", kind, f)
		}
	}
	in := &node.Input{Kind: node.InputMessage, Stream: 1, Message: note{lane: node.High}}
	if f := box.Push(in, 0); f != node.FateQueued {
		t.Errorf("a message had fate %d: what the node set in motion takes no room from it", f)
	}
	if f := box.Push(in, 0); f != node.FateRejected || box.Dropped(node.High) != 1 {
		t.Errorf("a message of a full lane had fate %d, and %d are counted", f, box.Dropped(node.High))
	}
}

func TestMailboxReusesItsRings(t *testing.T) {
	box := node.NewMailbox(node.DefaultMailbox())
	in := node.Input{Kind: node.InputTimer}
	box.Push(&in, 0)
	box.Pop(&in, 0)
	in = node.Input{Kind: node.InputTimer}
	if got := testing.AllocsPerRun(100, func() { box.Push(&in, 0); box.Pop(&in, 0) }); got != 0 {
		t.Errorf("a push and a pop allocate %v times, want 0", got)
	}
}

func TestMailboxReplacesWithoutAllocating(t *testing.T) {
	box := node.NewMailbox(node.DefaultMailbox())
	ins := make([]node.Input, 64)
	for i := range ins {
		ins[i] = node.Input{Kind: node.InputMessage, Stream: node.StreamID(1 + i%16), Message: note{full: node.Latest, subject: uint64(i / 16)}}
	}
	round := func() {
		for range 3 {
			for i := range ins {
				box.Push(&ins[i], 0)
			}
		}
		var in node.Input
		for box.Pop(&in, 0) {
		}
	}
	round()
	if got := testing.AllocsPerRun(100, round); got != 0 {
		t.Errorf("64 subjects of 16 streams, three times each, allocate %v times, want 0", got)
	}
}

func BenchmarkMailboxLatest(b *testing.B) {
	b.ReportAllocs()
	box := node.NewMailbox(node.DefaultMailbox())
	ins := make([]node.Input, 10_000)
	for i := range ins {
		ins[i] = node.Input{Kind: node.InputMessage, Stream: node.StreamID(1 + i), Message: note{full: node.Latest}}
		box.Push(&ins[i], 0)
	}
	i := 0
	for b.Loop() {
		box.Push(&ins[i%len(ins)], 0)
		i++
	}
}

func BenchmarkMailbox(b *testing.B) {
	b.ReportAllocs()
	box := node.NewMailbox(node.DefaultMailbox())
	in := node.Input{Kind: node.InputTimer}
	for b.Loop() {
		box.Push(&in, 0)
		box.Pop(&in, 0)
	}
}
