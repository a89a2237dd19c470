package manager

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// placing is a manager whose workers are drawn, and a shard that waits.
type placing struct {
	*nodetest.Env
	m     *Machine
	shard *shard
}

func drawPlacing(t *rapid.T) *placing {
	p := &placing{}
	p.Env = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
		New:  func() node.Machine { p.m = New(small()); return p.m },
	})
	p.Discard = true
	p.Start()
	p.shard = &shard{
		workflow: &workflow{plan: &message.WorkflowPlan{Cores: rapid.Uint32Range(0, 4).Draw(t, "asked")}, subjob: &subjob{job: message.JobID{1}}},
		cores:    rapid.Uint32Range(1, 4).Draw(t, "cores"), state: message.WorkflowPending,
		notBefore: p.Now().Add(-rapid.SampledFrom([]time.Duration{0, 4 * time.Second, 5 * time.Second, time.Minute}).Draw(t, "waited")),
	}
	allFailed := rapid.IntRange(0, 5).Draw(t, "all failed") == 5
	for i := range rapid.SampledFrom([]int{4, 3, 6, 5, 2, 1, 0}).Draw(t, "workers") {
		w := p.m.known(node.ID(fmt.Sprint("w", i)))
		w.registered = rapid.IntRange(0, 9).Draw(t, "registered") < 9 // rapid favours small numbers
		if rapid.IntRange(0, 9).Draw(t, "stands") < 9 {
			w.stream = node.StreamID(1000 + i)
		}
		w.draining = rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "draining")
		w.suspect = rapid.SampledFrom([]bool{false, false, false, false, false, true}).Draw(t, "suspect")
		w.total, w.reported = 4, rapid.SampledFrom([]uint32{4, 3, 2, 1, 0}).Draw(t, "free")
		if allFailed || rapid.Bool().Draw(t, "failed") {
			p.shard.failed = append(p.shard.failed, w.peer.ID)
		}
		p.m.rank(w)
	}
	return p
}

// fits says that a worker may get the shard, were its cores enough.
func fits(w *worker) bool { return w.registered && w.stream != 0 && !w.draining && !w.suspect }

// The ranking has the workers that can be given shards, with the cores that they have
// free, and no others.
func TestWorkersThatStandAreRanked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlacing(t)
		want, cores := 0, uint64(0)
		//lint:orderfree a sum
		for _, w := range p.m.workers {
			if fits(w) {
				want, cores = want+1, cores+uint64(w.reported)
			}
		}
		if free, total := p.m.ranking.Cores(); p.m.ranking.Len() != want || free != cores || total != uint64(4*want) {
			t.Fatalf("%d workers with %d of %d cores are ranked, want %d with %d", p.m.ranking.Len(), free, total, want, cores)
		}
		if got := p.m.another(p, p.shard); got != nil && !fits(got) {
			t.Fatalf("a shard goes to %+v", got)
		}
	})
}

// A cut becomes shards in their order, which their workers have and none of which is
// sent; or there are too few cores, and nothing is cut.
func TestACutIsGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlacing(t)
		f := p.shard.workflow
		f.plan = &message.WorkflowPlan{Name: "a", Test: true}
		f.subjob.dispatch, f.ready, f.state, f.subjob.state = &message.JobDispatch{}, p.Now(), message.WorkflowPending, message.JobQueued
		var free uint64
		//lint:orderfree a sum
		for _, w := range p.m.workers {
			if fits(w) {
				free += uint64(w.reported)
			}
		}
		f.plan.Cores = rapid.Uint32Range(1, 20).Draw(t, "asked")
		if free > 1 && rapid.IntRange(0, 3).Draw(t, "as many as are free") < 3 {
			f.plan.Cores = uint32(free) - rapid.Uint32Range(0, uint32(free)-1).Draw(t, "left over")
		}
		f.plan.VUs = rapid.Uint64Range(1, 40).Draw(t, "vus")
		if rapid.IntRange(0, 3).Draw(t, "users for each") < 3 {
			cores := uint64(f.plan.Cores)
			f.plan.VUs = cores*rapid.Uint64Range(1, 3).Draw(t, "each") + rapid.Uint64Range(0, cores-1).Draw(t, "rest")
		}
		want := min(f.plan.VUs, uint64(f.plan.Cores))
		p.m.cut(p, f, 1)
		if want > free {
			if len(f.shards) > 0 {
				t.Fatalf("%d shards of %d cores, %d are free", len(f.shards), want, free)
			}
			return
		}
		var next, cores uint64
		for i, s := range f.shards {
			w := p.m.workers[s.worker]
			switch {
			case w == nil || !fits(w) || s.cores == 0 || s.cores > w.reported || w.shards[s.id] != s:
				t.Fatalf("shard %d of %d cores is on %+v", i, s.cores, w)
			case s.first != next || int(s.id.Ordinal) != i || s.written:
				t.Fatalf("shard %d, number %d, has users [%d, %d) on %d cores, want them from %d; sent: %v", i, s.id.Ordinal, s.first, s.first+s.vus, s.cores, next, s.written)
			}
			next, cores = next+s.vus, cores+uint64(s.cores)
		}
		if next != f.plan.VUs || cores != want {
			t.Fatalf("%d users on %d cores, want %d on %d", next, cores, f.plan.VUs, want)
		}
	})
}

// What a worker has free is what it reported less what it was given since, whatever
// comes and goes; it is never below nothing, and what it lists counts once.
func TestLedgerOfCores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &worker{shards: map[message.ShardID]*shard{}, listed: map[message.ShardID]message.Fence{}, total: 8}
		m := &Machine{workers: map[node.ID]*worker{"w": w}}
		id := func() message.ShardID { return message.ShardID{Ordinal: rapid.Uint32Range(0, 4).Draw(t, "shard")} }
		t.Repeat(map[string]func(*rapid.T){
			"give": func(t *rapid.T) {
				s := &shard{id: id(), worker: "w", cores: rapid.Uint32Range(1, 4).Draw(t, "cores"), fence: message.Fence{Attempt: rapid.Uint64Range(1, 2).Draw(t, "attempt")}}
				w.shards[s.id] = s
			},
			"take": func(*rapid.T) {
				if s := w.shards[id()]; s != nil {
					m.detach(s)
					if w.shards[s.id] != nil {
						t.Fatal("it still has it")
					}
				}
			},
			"takeOld": func(*rapid.T) { // an attempt that was passed takes nothing of the next one
				if s := w.shards[id()]; s != nil {
					m.detach(&shard{id: s.id, worker: "w"})
					if w.shards[s.id] != s {
						t.Fatal("it lost the attempt that came after")
					}
				}
			},
			"report": func(t *rapid.T) {
				clear(w.listed)
				w.reported = rapid.Uint32Range(0, 8).Draw(t, "free")
				for range rapid.IntRange(0, 3).Draw(t, "lists") {
					w.listed[id()] = message.Fence{Attempt: rapid.Uint64Range(1, 2).Draw(t, "attempt")}
				}
			},
			"": func(t *rapid.T) {
				want := int64(w.reported)
				for n := range uint32(5) {
					i := message.ShardID{Ordinal: n}
					if s := w.shards[i]; s != nil && w.listed[i] != s.fence {
						want -= int64(s.cores)
					}
				}
				if got := w.free(); int64(got) != max(0, want) {
					t.Fatalf("%d cores are free, want %d", got, want)
				}
			},
		})
	})
}
