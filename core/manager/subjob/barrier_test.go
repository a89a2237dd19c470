package subjob

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/load/barrier"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// site is an executor with the newest report that its worker has, and answers under way.
type site struct {
	shard   int
	core    uint32
	waits   barrier.Waits
	report  barrier.Report
	answers []barrier.Answer // sent, and perhaps not yet here
	open    map[uint64]bool  // waits that have not ended; true: they ask to leave
	applied uint64
}

// world is a subjob with two shards of two executors, whose manager writes its record before it
// tells what it has released, and may die at any time.
type world struct {
	p        *Subjob
	durable  []byte
	pending  [][]Pass // releases that are not on a majority
	sites    []*site
	next     uint64
	users    uint64
	ended    map[uint64]bool // by wait: released
	released uint64          // waits that passed
	lost     uint64          // passes of lost attempts that no wait took
}

const now = node.Instant(time.Hour)

func newWorld(users uint64) *world {
	w := &world{users: users, ended: map[uint64]bool{}}
	w.p = &Subjob{Accepted: 1, Dispatch: &message.JobDispatch{}}
	w.p.Dispatch.Plan.Workflows = []message.WorkflowPlan{{}}
	w.p.Dispatch.Plan.Barriers = []message.BarrierPlan{{Name: "b", Users: users, Timeout: time.Second}}
	f := &Workflow{Subjob: w.p, Cut: true}
	for range 2 {
		f.Shards = append(f.Shards, &Shard{Workflow: f, State: message.WorkflowRunning, Fence: message.Fence{Attempt: 1}})
	}
	w.p.Workflows = []*Workflow{f}
	w.p.Bind()
	for i := range 4 {
		w.sites = append(w.sites, &site{shard: i / 2, core: uint32(i % 2), open: map[uint64]bool{}})
	}
	w.durable = w.p.Record(now)
	return w
}

func (w *world) shard(x *site) *Shard { return w.p.Workflows[0].Shards[x.shard] }

// hear gives the manager the newest report of a worker, and sends the answer if it is due.
func (w *world) hear(t *rapid.T, x *site) {
	if x.report.Number == 0 {
		return
	}
	waits := w.shard(x).Hear(Lessee{Of: 1, Core: x.core}, x.report.Number, x.report.Arrived, x.report.Left)
	if passes := w.p.Release(1); len(passes) > 0 {
		var sum uint64
		for i := range passes {
			sum += passes[i].Count
		}
		if sum%w.users != 0 {
			t.Fatalf("a release lets %d pass, %d are wanted", sum, w.users)
		}
		w.pending = append(w.pending, passes)
	}
	w.tell(x, waits)
}

func (w *world) tell(x *site, waits *Waits) {
	if waits.Told() {
		x.answers = append(x.answers, barrier.Answer{Number: waits.Report, Released: waits.Released})
	}
}

// commit puts the record on a majority.
func (w *world) commit() {
	w.durable = w.p.Record(now)
	for _, passes := range w.pending {
		for i := range passes {
			if x := &passes[i]; x.Passed() {
				for _, s := range w.sites {
					if w.shard(s) == x.Shard && s.core == x.At.Core {
						w.tell(s, x.Waits)
					}
				}
			}
		}
	}
	w.pending = nil
}

// takeOver loses the manager, and what it has not written.
func (w *world) takeOver(t *rapid.T) {
	p, err := Decode(w.p.Job, w.durable, now)
	if err != nil {
		t.Fatal(err)
	}
	p.Dispatch = w.p.Dispatch
	p.Bind()
	for i, s := range p.Workflows[0].Shards {
		s.State, s.Fence = message.WorkflowRunning, w.p.Workflows[0].Shards[i].Fence
	}
	w.p, w.pending = p, nil
}

// take gives an executor an answer. As many waits pass as it says.
func (w *world) take(t *rapid.T, x *site, a barrier.Answer) {
	var passed uint64
	for _, end := range x.waits.Take(a) {
		if _, twice := w.ended[end.ID]; twice {
			t.Fatalf("wait %d ends twice", end.ID)
		}
		if leaving, open := x.open[end.ID]; !open || !end.Released && !leaving {
			t.Fatalf("wait %d ends (released %v), open %v, leaving %v", end.ID, end.Released, open, leaving)
		}
		delete(x.open, end.ID)
		w.ended[end.ID] = end.Released
		if end.Released {
			passed++
		}
	}
	if a.Released > x.applied {
		if passed != a.Released-x.applied {
			t.Fatalf("a release lets %d pass, and %d do", a.Released-x.applied, passed)
		}
		x.applied = a.Released
	} else if passed > 0 {
		t.Fatalf("an old answer lets %d pass", passed)
	}
	w.released += passed
}

// leave ends the time of the oldest wait that still waits.
func (w *world) leave(x *site) {
	for id := range w.next {
		if leaving, open := x.open[id+1]; open && !leaving {
			x.open[id+1] = true
			x.waits.Leave(id + 1)
			return
		}
	}
}

// lose gives up the attempt of an executor's shard, and begins another one.
func (w *world) lose(x *site) {
	s := w.shard(x)
	for i, o := range w.sites {
		if o.shard == x.shard {
			if waits := s.Waits[Lessee{Of: 1, Core: o.core}]; waits != nil {
				w.lost += waits.Released - min(waits.Released, o.applied)
			}
			w.sites[i] = &site{shard: o.shard, core: o.core, open: map[uint64]bool{}}
		}
	}
	s.Burn(0)
	s.Fence.Attempt++
	w.commit()
}

// settle lets all messages arrive until nothing changes.
func (w *world) settle(t *rapid.T) {
	for range 8 {
		for _, x := range w.sites {
			if r, news := x.waits.Report(); news {
				x.report = r
			}
			w.hear(t, x)
		}
		w.commit()
		for _, x := range w.sites {
			for _, a := range x.answers {
				w.take(t, x, a)
			}
			x.answers = nil
		}
	}
}

// Messages are lost, late and repeated, users leave, attempts are lost, managers die before or
// after a majority knows a release. Each release lets as many pass as its barrier wants, and just
// those pass at the executors, each once; and once messages arrive, fewer than wanted still wait.
func TestBarriersReleaseExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Uint64Range(2, 5).Draw(t, "users"))
		for range rapid.IntRange(0, 150).Draw(t, "steps") {
			x := w.sites[rapid.IntRange(0, len(w.sites)-1).Draw(t, "executor")]
			switch rapid.SampledFrom([]string{"arrive", "arrive", "leave", "report", "report", "hear", "commit", "take", "take", "take over", "lose"}).Draw(t, "what") {
			case "arrive":
				w.next++
				x.open[w.next] = false
				x.waits.Arrive(w.next)
			case "leave":
				w.leave(x)
			case "report": // and the manager hears it
				if r, news := x.waits.Report(); news {
					x.report = r
				}
				w.hear(t, x)
			case "hear": // an old one again
				w.hear(t, x)
			case "commit":
				w.commit()
			case "take":
				if len(x.answers) > 0 { // it stays, and may come again
					w.take(t, x, x.answers[rapid.IntRange(0, len(x.answers)-1).Draw(t, "answer")])
				}
			case "take over":
				w.takeOver(t)
			case "lose":
				w.lose(x)
			}
		}
		w.settle(t)
		var open uint64
		for _, x := range w.sites {
			for id := range w.next {
				leaving, is := x.open[id+1]
				if leaving {
					t.Fatal("a wait that asks to leave has not ended")
				}
				if is {
					open++
				}
			}
		}
		if open >= w.users {
			t.Fatalf("%d wait, and %d are wanted", open, w.users)
		}
		if sum := w.released + w.lost; sum%w.users != 0 {
			t.Fatalf("%d have passed, and lost attempts had %d more: of releases of %d each", w.released, w.lost, w.users)
		}
	})
}
