package vigil_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/manager/vigil"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// VIGIL-1 and VIGIL-2: a wait grows with the time between punctual heartbeats alone, and begins anew
// when work moves. Most is the longest wait.
func TestWaitsCountAwakeTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const every = time.Second
		var v vigil.Vigil
		flows := []*subjob.Workflow{{}, {}}
		wait, last := make([]time.Duration, 2), make([]int, 2)
		now := node.Instant(time.Hour)
		v.Look(now, every)
		for range rapid.IntRange(1, 50).Draw(t, "looks") {
			late := rapid.SampledFrom([]time.Duration{0, 0, 0, 499 * time.Millisecond, 500 * time.Millisecond, time.Minute}).Draw(t, "late")
			now = now.Add(every + late)
			awake := every + late
			if late >= 500*time.Millisecond {
				awake = 0
			}
			v.Look(now, every)
			most := time.Duration(0)
			for i, f := range flows {
				left := rapid.SampledFrom([]int{0, 1, 1, 1, 2}).Draw(t, "left")
				if left > 0 && left == last[i] {
					wait[i] += awake
				} else {
					wait[i] = 0
				}
				last[i] = left
				v.At(f, left)
				most = max(most, wait[i])
			}
			if v.Most() != most {
				t.Fatalf("the longest wait is %v, want %v", v.Most(), most)
			}
		}
	})
}

// yard is a roster with what each worker can take.
func yard(t *rapid.T) (r *roster.Roster, takes []uint32) {
	r = roster.New()
	for i := range rapid.IntRange(0, 4).Draw(t, "workers") {
		id := node.ID(fmt.Sprint("w", i))
		s := node.StreamID(i + 1)
		r.Opened(s, 0)
		w := r.Register(node.Peer{ID: id, Role: node.RoleWorker, Incarnation: 1, Addr: node.Addr(id + ":1")}, s, 10).Worker
		hb := &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 8, CoresFree: rapid.Uint32Range(0, 8).Draw(t, "free")}
		free := hb.CoresFree
		what := rapid.IntRange(0, 6).Draw(t, "state")
		hb.Draining = what == 0
		if what == 1 {
			hb.SlotsUsed, hb.SlotsMax = 10, 10
		}
		r.Heartbeat(w, hb)
		switch what {
		case 2:
			r.Suspect(w, true)
		case 3:
			r.Broken(s)
		}
		if what <= 3 {
			free = 0
		}
		takes = append(takes, free)
	}
	return r, takes
}

// A workflow that is not cut lacks nothing if the workers that take shards have its cores together;
// a shard, if one of them has. Nothing that waits for others, for a time or for an outcome does.
func TestWhatLacksNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, takes := yard(t)
		sum, most := uint32(0), uint32(0)
		for _, n := range takes {
			sum, most = sum+n, max(most, n)
		}
		cores := rapid.Uint32Range(1, 12).Draw(t, "cores")
		kept := rapid.Bool().Draw(t, "kept")
		plan := message.Plan{Workflows: []message.WorkflowPlan{{Name: "w", Test: true, VUs: 100, Cores: cores, Duration: time.Second}}}
		f := &subjob.Workflow{Plan: &plan.Workflows[0], Subjob: &subjob.Subjob{Dispatch: &message.JobDispatch{Plan: plan}}}
		f.Subjob.Workflows = []*subjob.Workflow{f}
		want := 0
		if sum >= cores && !kept {
			want = 1
		}
		now := node.Instant(time.Hour)
		if got := vigil.Left(now, f, r, vigil.Room(r), kept); got != want {
			t.Fatalf("%d cores, of %v, kept %v: %d lack nothing, want %d", cores, takes, kept, got, want)
		}
		want = 0
		for range rapid.IntRange(1, 5).Draw(t, "shards") {
			s := &subjob.Shard{Workflow: f, Extent: subjob.Extent{VUs: 10, Cores: rapid.Uint32Range(1, 8).Draw(t, "cores")}, State: message.WorkflowPending}
			f.Shards = append(f.Shards, s)
			switch rapid.IntRange(0, 6).Draw(t, "state") {
			case 0:
				s.State = message.WorkflowAssigned
				want++
			case 1:
				s.State = message.WorkflowRunning
			case 2:
				s.NotBefore = now.Add(time.Second)
			case 3:
				s.Open = true
			case 4:
				s.Commit = subjob.Losing
			default:
				if !kept && most >= s.Need() {
					want++
				}
			}
		}
		if got := vigil.Left(now, f, r, vigil.Room(r), kept); got != want {
			t.Fatalf("%d shards lack nothing, want %d: %v", got, want, takes)
		}
	})
}
