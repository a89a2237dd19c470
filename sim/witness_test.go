package sim_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// witness is a busybody that checks that its world keeps the promises of core/node.
type witness struct {
	busybody
	node.Env // of the step that runs

	t       *rapid.T
	last    node.Instant
	timers  map[node.TimerKey]node.Instant
	streams map[node.StreamID]*stream
	puts    []node.WriteID
	execs   map[node.ExecID]int
	seen    *int
}

type stream struct {
	open     bool
	sent     [2]uint64 // high, low
	received [2]uint64
}

func newWitness(t *rapid.T, peers []node.Addr, seen *int) *witness {
	return &witness{t: t, busybody: busybody{peers: peers}, timers: map[node.TimerKey]node.Instant{}, streams: map[node.StreamID]*stream{}, execs: map[node.ExecID]int{}, seen: seen}
}

// Step implements node.Machine.
func (w *witness) Step(env node.Env, in *node.Input) {
	w.Env = env
	if env.Now() < w.last {
		w.t.Fatalf("%v: the clock went back from %d to %d", env.Self(), w.last, env.Now())
	}
	w.last = env.Now()
	w.judge(in)
	*w.seen++
	w.busybody.Step(w, in)
}

func (w *witness) judge(in *node.Input) {
	switch in.Kind {
	case node.InputTimer:
		if due, ok := w.timers[in.Timer]; !ok || w.last < due {
			w.t.Fatalf("K2: %v fired at %d, set: %v, due %d", in.Timer, w.last, ok, due)
		}
		delete(w.timers, in.Timer)
	case node.InputStreamOpened:
		s := w.streams[in.Stream]
		if s == nil {
			s = &stream{}
			w.streams[in.Stream] = s
		}
		if s.open {
			w.t.Fatalf("stream %d opened twice", in.Stream)
		}
		s.open = true
	case node.InputStreamBroken:
		if w.streams[in.Stream] == nil {
			w.t.Fatalf("stream %d broke, which was closed, or broke before, or was never there", in.Stream)
		}
		delete(w.streams, in.Stream)
	case node.InputMessage:
		if in.Stream != 0 {
			w.onMessage(in)
		}
	case node.InputStored:
		if len(w.puts) == 0 || w.puts[0] != in.WriteID {
			w.t.Fatalf("K5: Put %d completed, want the first of %v", in.WriteID, w.puts)
		}
		w.puts = w.puts[1:]
	case node.InputExec:
		if _, ok := w.execs[in.Exec.ID]; !ok {
			w.t.Fatalf("run %d says something, and it is not there", in.Exec.ID)
		}
		if in.Exec.Kind == node.ExecGone {
			delete(w.execs, in.Exec.ID)
		}
	}
}

func (w *witness) onMessage(in *node.Input) {
	s := w.streams[in.Stream]
	if s == nil || !s.open {
		w.t.Fatalf("a message on stream %d, which is not open", in.Stream)
	}
	lane, number := 0, uint64(0)
	switch m := in.Message.(type) {
	case *toy.Ping:
		number = m.Counter
	case *toy.Gossip:
		lane, number = 1, uint64(m.Updates[0].Node)
	}
	if number != s.received[lane] {
		w.t.Fatalf("K3, K4: stream %d lane %d brings %d, want %d", in.Stream, lane, number, s.received[lane])
	}
	s.received[lane]++
}

// The effects that a promise depends on.

func (w *witness) SetTimer(k node.TimerKey, d time.Duration) {
	w.timers[k] = w.last.Add(d)
	w.Env.SetTimer(k, d)
}

func (w *witness) CancelTimer(k node.TimerKey) {
	delete(w.timers, k)
	w.Env.CancelTimer(k)
}

func (w *witness) Open(to node.Addr) node.StreamID {
	id := w.Env.Open(to)
	if w.streams[id] != nil {
		w.t.Fatalf("stream %d is used twice", id)
	}
	w.streams[id] = &stream{}
	return id
}

func (w *witness) Close(id node.StreamID) {
	delete(w.streams, id)
	w.Env.Close(id)
}

// Send numbers the messages.
func (w *witness) Send(id node.StreamID, m node.Message) {
	s := w.streams[id]
	if s == nil {
		w.Env.Send(id, m) // dropped
		return
	}
	if _, low := m.(*toy.Gossip); low {
		w.Env.Send(id, &toy.Gossip{Updates: [8]toy.GossipUpdate{{Node: uint32(s.sent[1])}}})
		s.sent[1]++
	} else {
		w.Env.Send(id, ping(s.sent[0]))
		s.sent[0]++
	}
}

func (w *witness) Store() node.Store { return witnessStore{w, w.Env.Store()} }

type witnessStore struct {
	w *witness
	node.Store
}

func (s witnessStore) Put(r []node.Record, t node.WriteID) {
	s.w.puts = append(s.w.puts, t)
	s.Store.Put(r, t)
}

func (w *witness) Exec() node.Executor { return witnessExec{w, w.Env.Exec()} }

type witnessExec struct {
	w *witness
	node.Executor
}

func (x witnessExec) Start(id node.ExecID, core int, m node.Message) {
	x.w.execs[id] = core
	x.Executor.Start(id, core, m)
}

// drawFaults draws a schedule of any faults.
func drawFaults(t *rapid.T, nodes int) []sim.Fault {
	names := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("n%d", rapid.IntRange(0, nodes-1).Draw(t, "node"))
	}), 0, 3, rapid.ID)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sim.Fault {
		f := rapid.SampledFrom(allFaults()).Draw(t, "fault")
		f.At = time.Duration(rapid.IntRange(0, 8000).Draw(t, "at")) * time.Millisecond
		f.For = time.Duration(rapid.SampledFrom([]int{0, 1, 100, 1000, 5000}).Draw(t, "for")) * time.Millisecond
		f.Nodes, f.Peers = names.Draw(t, "nodes"), names.Draw(t, "peers")
		f.Aim = rapid.SampledFrom([]string{"", "timer:*", "timer:*-1ns", "timer:*+1ms", "stored", "storing"}).Draw(t, "aim")
		switch f.Kind {
		case sim.FaultHeal:
			f.Aim = ""
		case sim.FaultLate:
			f.Hold = f.For
		case sim.FaultClockDrift:
			f.Beyond = true
		case sim.FaultSwizzle:
			f.For += time.Second
		case sim.FaultIsolate:
			f.Nodes, f.For = []string{"n0", "n1", "n2"}, f.For+time.Second
		}
		return f
	}), 0, 12).Draw(t, "faults")
}

func TestTheKernelsPromisesHoldUnderAnyFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		faults := drawFaults(t, 4)
		cost := time.Duration(rapid.SampledFrom([]int{0, 50, 3000}).Draw(t, "cost")) * time.Microsecond
		lane := rapid.SampledFrom([]int{4, 1000}).Draw(t, "lane")
		play := func(wire bool) (*sim.World, int) {
			w := sim.New(sim.Config{Seed: seed, Wire: wire, Network: netsim.Default(), Beyond: true})
			model := sim.DefaultModel()
			model.Crash, model.Hang, model.IgnoreCancel = 100_000, 100_000, 100_000
			var peers []node.Addr
			seen := 0
			for i := range 4 {
				id := node.ID(fmt.Sprintf("n%d", i))
				w.Add(sim.Spec{ID: id, Role: node.RoleToy, Place: fmt.Sprint(i % 2), Cores: 1, Model: model, Costs: sim.Costs{Default: cost},
					Mailbox: node.MailboxConfig{Lanes: [node.Priorities]int{lane, lane, lane, lane}, Latest: 8, Bytes: 1 << 20, Stubs: 8},
					New:     func() node.Machine { return newWitness(t, peers, &seen) }})
				peers = append(peers, w.Addr(id))
				w.Start(id)
			}
			if err := w.Schedule(faults); err != nil {
				t.Fatal(err)
			}
			w.At(9*time.Second, w.Heal)
			w.RunUntil(12 * time.Second)
			for _, id := range w.Nodes() {
				if !w.Alive(id) {
					t.Fatalf("%s is down after all was healed", id)
				}
			}
			return w, seen
		}
		fast, seen := play(false)
		if uint64(seen) != fast.Events() {
			t.Fatalf("the machines saw %d inputs, the world says %d", seen, fast.Events())
		}
		if wire, _ := play(true); wire.Hash() != fast.Hash() {
			t.Fatalf("hash %x, encoded %x", fast.Hash(), wire.Hash())
		}
	})
}
