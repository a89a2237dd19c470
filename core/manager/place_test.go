package manager

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// placing is a manager with random workers, and a shard that waits.
type placing struct {
	*nodetest.Env
	m     *Machine
	shard *subjob.Shard
}

func drawPlacing(t *rapid.T) *placing {
	p := &placing{}
	p.Env = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
		New:  func() node.Machine { p.m = New(small()); return p.m },
	})
	p.Discard = true
	p.Start()
	p.shard = &subjob.Shard{
		Workflow: &subjob.Workflow{Plan: &message.WorkflowPlan{Cores: rapid.Uint32Range(0, 4).Draw(t, "asked")}, Subjob: &subjob.Subjob{Job: message.JobID{1}}},
		Extent:   subjob.Extent{Cores: rapid.Uint32Range(1, 4).Draw(t, "cores")}, State: message.WorkflowPending,
		NotBefore: p.Now().Add(-rapid.SampledFrom([]time.Duration{0, 4 * time.Second, 5 * time.Second, time.Minute}).Draw(t, "waited")),
	}
	allFailed := rapid.IntRange(0, 5).Draw(t, "all failed") == 5
	for i := range rapid.SampledFrom([]int{4, 3, 6, 5, 2, 1, 0}).Draw(t, "workers") {
		id := node.ID(fmt.Sprint("w", i))
		w := stand(p.m, id, &message.WorkerHeartbeat{
			CoresTotal: 4, CoresFree: rapid.SampledFrom([]uint32{4, 3, 2, 1, 0}).Draw(t, "free"), Draining: rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "draining"),
		})
		p.m.roster.Suspect(w, rapid.SampledFrom([]bool{false, false, false, false, false, true}).Draw(t, "suspect"))
		if rapid.IntRange(0, 9).Draw(t, "away") == 9 { // rapid favours small numbers
			p.m.roster.Broken(w.Stream)
		}
		if allFailed || rapid.Bool().Draw(t, "failed") {
			p.shard.Failed = append(p.shard.Failed, id)
		}
	}
	return p
}

// stand registers a worker with its first heartbeat.
func stand(m *Machine, id node.ID, hb *message.WorkerHeartbeat) *roster.Worker {
	hb.Sequence = 1
	peer := node.Peer{ID: id, Incarnation: 1, Role: node.RoleWorker, Addr: node.Addr(id + ":1")}
	w := m.roster.Register(peer, node.StreamID(1000+m.roster.Streams()), m.config.WorkersMax).Worker
	m.roster.Heartbeat(w, hb)
	return w
}

// fits says that a worker may get the shard if it has enough cores.
func fits(w *roster.Worker) bool { return w.Stands() && !w.Draining && !w.Suspect }

// A repeated shard goes to a worker that is connected, healthy, and has enough cores.
func TestOnlyWorkersThatStandAreChosen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlacing(t)
		p.shard.Workflow.Plan.Cores = p.shard.Cores
		if got := (pool{p.m.roster}).another(p.Rand(node.PurposePlacement), p.shard, false); got != nil && (!fits(got) || got.Free() < p.shard.Cores) {
			t.Fatalf("it goes to %+v", got)
		}
	})
}

// A cut becomes shards in their order, which the workers hold before any dispatch. If there are
// too few cores, the manager cuts nothing.
func TestACutIsGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlacing(t)
		f := p.shard.Workflow
		f.Plan = &message.WorkflowPlan{Name: "a", Test: true}
		f.Subjob.Workflows, f.Subjob.Dispatch = []*subjob.Workflow{f}, &message.JobDispatch{Plan: message.Plan{Workflows: []message.WorkflowPlan{*f.Plan}}}
		f.Ready, f.State, f.Subjob.State = p.Now(), message.WorkflowPending, message.JobQueued
		var free uint64
		for _, w := range p.m.roster.All() {
			if fits(w) {
				free += uint64(w.Reported)
			}
		}
		f.Plan.Cores = rapid.Uint32Range(1, 20).Draw(t, "asked")
		if free > 1 && rapid.IntRange(0, 3).Draw(t, "as many as are free") < 3 {
			f.Plan.Cores = uint32(free) - rapid.Uint32Range(0, uint32(free)-1).Draw(t, "left over")
		}
		f.Plan.VUs = rapid.Uint64Range(1, 40).Draw(t, "vus")
		if rapid.IntRange(0, 3).Draw(t, "users for each") < 3 {
			cores := uint64(f.Plan.Cores)
			f.Plan.VUs = cores*rapid.Uint64Range(1, 3).Draw(t, "each") + rapid.Uint64Range(0, cores-1).Draw(t, "rest")
		}
		want := min(f.Plan.VUs, uint64(f.Plan.Cores))
		p.m.cut(p, f)
		if want > free {
			if len(f.Shards) > 0 {
				t.Fatalf("%d shards of %d cores, %d are free", len(f.Shards), want, free)
			}
			return
		}
		var next, cores uint64
		for i, s := range f.Shards {
			w := p.m.roster.Of(s.Worker)
			switch {
			case w == nil || !fits(w) || s.Cores == 0 || s.Cores > w.Reported || !w.Has(s.ID, s.Fence):
				t.Fatalf("shard %d of %d cores is on %+v", i, s.Cores, w)
			case s.First != next || int(s.ID.Ordinal) != i || s.Written:
				t.Fatalf("shard %d, number %d, has users [%d, %d) on %d cores, want them from %d; sent: %v", i, s.ID.Ordinal, s.First, s.First+s.VUs, s.Cores, next, s.Written)
			}
			next, cores = next+s.VUs, cores+uint64(s.Cores)
		}
		if next != f.Plan.VUs || cores != want {
			t.Fatalf("%d users on %d cores, want %d on %d", next, cores, f.Plan.VUs, want)
		}
	})
}
