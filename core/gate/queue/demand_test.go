package queue_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func TestDemandOfAJob(t *testing.T) {
	type flows = []message.WorkflowPlan
	type told = []message.WorkflowResult
	named := func(cores uint32) message.WorkflowPlan {
		return message.WorkflowPlan{Test: true, VUs: 64, Cores: cores}
	}
	light := message.WorkflowPlan{Test: true, VUs: 9, Rate: 100_000, Steps: []message.StepPlan{{Kind: message.StepRequest}}}
	later := message.WorkflowPlan{Test: true, VUs: 64, Cores: 7, Layer: 1}
	running := func(cores uint32) message.WorkflowResult {
		return message.WorkflowResult{State: message.WorkflowRunning, Cores: cores}
	}
	ended := message.WorkflowResult{State: message.WorkflowCompleted, Cores: 4}
	for _, c := range []struct {
		name  string
		plan  flows
		told  told
		cores uint64
	}{
		{"what it names", flows{named(6)}, nil, 6},
		{"no more cores than users", flows{{Test: true, VUs: 2, Cores: 6}}, nil, 2},
		{"one, if it names none", flows{named(0)}, nil, 1},
		{"no share of its priority", flows{{Test: true, VUs: 64, Priority: message.PriorityExclusive}}, nil, 1},
		{"both of a layer", flows{named(6), named(2)}, nil, 8},
		{"not the later layer", flows{named(6), later}, nil, 6},
		{"what it has", flows{named(0)}, told{running(5)}, 5},
		{"what it shares counts once", flows{named(0), named(0)}, told{running(5), {State: message.WorkflowRunning, Cores: 5, Shared: 5}}, 5},
		{"it waits for cores", flows{named(6)}, told{{State: message.WorkflowPending}}, 6},
		{"it has ended", flows{named(4)}, told{ended}, 0},
		{"the later layer, after it", flows{named(4), later}, told{ended, {State: message.WorkflowPending}}, 7},
		{"the later layer, beside it", flows{named(4), later}, told{running(4), {State: message.WorkflowPending}}, 4},
		{"light ones share a core", flows{light, light}, nil, 1},
		{"as many as fit in a core", flows{light, light, light, light, light, light, light, light, light}, nil, 2},
		{"light ones that run share it, too", flows{light, light}, told{running(1), running(1)}, 1},
	} {
		d := new(queue.Demand)
		d.Add(&message.Plan{Workflows: c.plan}, c.told)
		if got := d.Cores(); got != c.cores {
			t.Errorf("%s: it wants %d cores, want %d", c.name, got, c.cores)
		}
	}
}

// Each waiting job counts once in each datacenter that it names, or once at all, whatever is free.
func TestDemandCountsEachJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free := map[string]int{}
		for _, name := range []string{"a", "b", "c"} {
			free[name] = rapid.IntRange(-1, 8).Draw(t, "free "+name)
		}
		p := sites(free)
		if rapid.Bool().Draw(t, "prefer") {
			_, _, _ = p.Prefer(1, true, func(int) int { return 0 })
		}
		q := queue.New(queue.Bounds{Timeout: time.Hour, AgeMax: time.Hour, Step: time.Hour})
		want, named := uint64(0), map[string]uint64{}
		for i := range rapid.IntRange(0, 8).Draw(t, "jobs") {
			cores := rapid.Uint32Range(1, 20).Draw(t, "cores")
			to := rapid.SampledFrom([][]string{nil, {"a"}, {"b"}, {"a", "c"}}).Draw(t, "in")
			want += uint64(cores) * uint64(max(1, len(to)))
			for _, name := range to {
				named[name] += uint64(cores)
			}
			q.Enter(&queue.Turn{Number: uint64(i), Since: 1, Named: to}, &message.Plan{Workflows: []message.WorkflowPlan{{Test: true, VUs: 64, Cores: cores}}}, 1)
		}
		for range rapid.IntRange(0, 2).Draw(t, "looks") {
			q.Ready(p, 2)
		}
		all := map[string]*queue.Demand{}
		q.Demand(p, func(name string) *queue.Demand {
			if all[name] == nil {
				all[name] = new(queue.Demand)
			}
			return all[name]
		})
		sum := uint64(0)
		for _, name := range []string{"a", "b", "c"} {
			got := uint64(0)
			if d := all[name]; d != nil {
				got = d.Cores()
			}
			if sum += got; got < named[name] {
				t.Fatalf("%s: %d cores, and jobs name %d there", name, got, named[name])
			}
		}
		if sum != want {
			t.Fatalf("the jobs want %d cores, and %d count", want, sum)
		}
	})
}

// A datacenter never wants more cores than it can reach, if its managers tell that, and else all.
func TestDemandIsWithinReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		had, told, wants := rapid.Uint32Range(1, 30).Draw(t, "registered"), rapid.Uint32Range(0, 30).Draw(t, "cores_max"), rapid.Uint32Range(1, 40).Draw(t, "wanted")
		p := places.New(places.Bounds{Datacenters: 1, Managers: 2})
		d, _ := p.Know("a", 1)
		for i, most := range []uint32{0, told} { // one of its managers is older than the setting
			p.Register(d, node.Peer{ID: node.ID(rune('m' + i))}, 1).Take(node.StreamID(i+1), &message.ManagerHeartbeat{Sequence: 1, CoresTotal: had, CoresMax: most, WorkerSum: 1}, 1)
		}
		demand := new(queue.Demand)
		demand.Add(&message.Plan{Workflows: []message.WorkflowPlan{{Test: true, VUs: 64, Cores: wants}}}, nil)
		got, want := demand.Within(d), uint64(wants)
		if told > 0 {
			want = min(want, uint64(max(had, told)))
		}
		if got != want {
			t.Fatalf("%d cores count of %d, with %d registered and cores_max = %d: want %d", got, wants, had, told, want)
		}
	})
}
