package manager

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// unequal says where the shares of a subjob's workers do not add up to its steps.
func unequal(d *message.DatacenterResult) string {
	var subjob, shares message.WorkerShare
	for i := range d.Workflows {
		stats := d.Workflows[i].Stats
		measure(&subjob, &stats)
	}
	for i := range d.Workers {
		join(&shares, &d.Workers[i])
		shares.Active += d.Workers[i].Active
	}
	subjob.BusyMax, subjob.Saturated = 0, false
	return cmp.Diff(subjob, shares)
}

func drawStats(t *rapid.T) message.Stats {
	n := func(what string) uint64 { return rapid.Uint64Range(0, 1000).Draw(t, what) }
	step := func(kind message.StepKind) message.StepStats {
		s := message.StepStats{
			Name: fmt.Sprintf("step %d", kind), Kind: kind, Sent: n("sent"), OK: n("ok"), Failed: n("failed"), TimedOut: n("timed out"), Cancelled: n("cancelled"),
			Dropped: n("dropped"), Skipped: n("skipped"), BytesIn: n("in"), BytesOut: n("out"),
		}
		s.Started = s.OK + s.Failed + s.TimedOut + s.Cancelled
		return s
	}
	var lag stats.Histogram
	lag.Record(n("lag"))
	return message.Stats{
		Active: n("active"), Elapsed: time.Duration(n("elapsed")),
		Steps:     []message.StepStats{step(message.StepRequest), step(message.StepCheck), step(message.StepFunction)},
		Generator: message.Generator{Lag: lag.Wire(), BusyMax: uint32(n("busy")), Saturated: n("saturated") > 990},
	}
}

// drawRunning is a subjob whose shards are in any states, on up to the given number of workers.
func drawRunning(t *rapid.T, workers int) (*Machine, *subjob.Subjob) {
	m := New(small())
	p := &subjob.Subjob{Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 257}}
	name := func() node.ID { return node.ID(fmt.Sprintf("w%03d", rapid.IntRange(1, workers).Draw(t, "worker"))) }
	for i := range rapid.IntRange(1, 3).Draw(t, "workflows") {
		f := &subjob.Workflow{Subjob: p, Index: uint32(i), Plan: &message.WorkflowPlan{Name: fmt.Sprint(i), Layer: rapid.Uint32Range(0, 1).Draw(t, "layer")}}
		p.Workflows = append(p.Workflows, f)
		for range rapid.IntRange(0, workers).Draw(t, "shards") {
			s := &subjob.Shard{Workflow: f, Worker: name(), Extent: subjob.Extent{Cores: 2, VUs: 3}, State: message.WorkflowState(rapid.IntRange(1, 3).Draw(t, "state"))}
			f.Shards = append(f.Shards, s)
			switch rapid.IntRange(0, 4).Draw(t, "stands") {
			case 0:
				s.State, s.Result = message.WorkflowCompleted, &message.ShardResult{Stats: drawStats(t)}
			case 1:
				s.Progress = &message.ShardProgress{Stats: drawStats(t)}
			case 2:
				s.Commit, s.Progress = subjob.Losing, &message.ShardProgress{Stats: drawStats(t)}
				s.Lost = append(s.Lost, &subjob.Lost{LostAttempt: message.LostAttempt{Worker: string(s.Worker), Started: 7}, Report: &message.ShardResult{Stats: drawStats(t)}})
			case 3:
				s.Losing = &subjob.Lost{LostAttempt: message.LostAttempt{Worker: string(name()), Started: 7}}
				if s.Commit = subjob.Losing; rapid.Bool().Draw(t, "reported") {
					s.Losing.Report = &message.ShardResult{Stats: drawStats(t)}
				}
			}
			if rapid.Bool().Draw(t, "here") {
				stand(m, s.Worker, &message.WorkerHeartbeat{CoresTotal: 4})
			}
		}
	}
	return m, p
}

// What becomes of shards between two steps of a survey is not in it.
func TestASurveyInStepsIsOfOneInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, p := drawRunning(t, rapid.SampledFrom([]int{3, 8}).Draw(t, "workers"))
		env := world(small())
		want := m.snapshot(env, p)
		s := surveyOf(p, env.Now())
		for s.add(rapid.SampledFrom([]int{1, shareBytes, 3 * shareBytes}).Draw(t, "room")) <= 0 {
			if f := rapid.SampledFrom(p.Workflows).Draw(t, "workflow"); len(f.Shards) > 0 {
				moveOn(t, rapid.SampledFrom(f.Shards).Draw(t, "shard"))
			}
		}
		if diff := cmp.Diff(want, s.told(env, m.config.Datacenter, m.roster)); diff != "" {
			t.Fatalf("a subjob (-at once +in steps):\n%s", diff)
		}
	})
}

// moveOn changes a shard as a manager may between two steps.
func moveOn(t *rapid.T, s *subjob.Shard) {
	switch {
	case s.Losing != nil && rapid.Bool().Draw(t, "its report is lost"):
		s.Losing.Discard()
	case s.Losing != nil:
		s.Losing.Counted = true
		s.Lost, s.Losing, s.Commit, s.State = append(s.Lost, s.Losing), nil, subjob.Settled, message.WorkflowPending
	case s.Result != nil:
	case rapid.Bool().Draw(t, "ends"):
		s.State, s.Result, s.Progress = message.WorkflowCompleted, &message.ShardResult{Stats: drawStats(t)}, nil
	default:
		s.Worker, s.Cores, s.Progress = "another", 7, &message.ShardProgress{Stats: drawStats(t)}
	}
}

func TestSharesOfWorkersAddUpToTheSubjob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, p := drawRunning(t, rapid.SampledFrom([]int{3, 3, 80}).Draw(t, "workers"))
		d := m.snapshot(world(small()), p)
		if diff := unequal(&d); diff != "" {
			t.Fatalf("the subjob's figures, and what its workers tell (-part +workers):\n%s", diff)
		}
		all := map[string]bool{}
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				if s.Result != nil || s.Live() {
					all[string(s.Worker)] = true
				}
				for _, l := range s.Lost {
					all[l.Worker] = true
				}
				if s.Losing != nil {
					all[s.Losing.Worker] = true
				}
			}
		}
		named := d.Workers
		others := uint32(0)
		if n := len(d.Workers); n > workersTold {
			named, others = d.Workers[:workersTold], d.Workers[n-1].Others
		}
		if len(named)+int(others) != len(all) || len(d.Workers) > workersTold+1 {
			t.Fatalf("%d shares and %d others are told of %d workers", len(named), others, len(all))
		}
		for i, w := range named {
			if !all[w.Node] || w.State == message.WorkerNone || w.Others != 0 || i > 0 && named[i-1].Node >= w.Node {
				t.Fatalf("share %d is %+v", i, w)
			}
		}
	})
}

// Workers in trouble have their own share, however many are healthy.
func TestWorkersInTroubleAreToldFirst(t *testing.T) {
	var all []*tally
	for i := range 200 {
		w := message.WorkerShare{Node: fmt.Sprintf("w%03d", i), State: message.WorkerRunning, Started: 1, VUs: 5, BusyMax: uint32(i)}
		switch i {
		case 180:
			w.State = message.WorkerLost
		case 190:
			w.Saturated = true
		case 195:
			w.Lost = 1
		}
		all = append(all, &tally{share: w})
	}
	told := fewer(all)
	for _, name := range []string{"w000", "w060", "w180", "w190", "w195"} {
		if !slices.ContainsFunc(told, func(w message.WorkerShare) bool { return w.Node == name }) {
			t.Errorf("%s is not told", name)
		}
	}
	want := message.WorkerShare{Others: 136, State: message.WorkerRunning, Started: 136, VUs: 680, BusyMax: 199}
	if diff := cmp.Diff(want, told[len(told)-1]); diff != "" || len(told) != workersTold+1 {
		t.Errorf("%d shares, the last (-want +got):\n%s", len(told), diff)
	}
}

// A subjob of 1,000 workers takes a few kilobytes.
func TestSharesAreBounded(t *testing.T) {
	m, p := New(small()), &subjob.Subjob{}
	f := &subjob.Workflow{Subjob: p, Plan: &message.WorkflowPlan{}}
	p.Workflows = []*subjob.Workflow{f}
	for i := range 1000 {
		s := &subjob.Shard{Workflow: f, Worker: node.ID(fmt.Sprintf("worker-%d.example.net:7003", i)), State: message.WorkflowRunning, Progress: &message.ShardProgress{}}
		s.Progress.Stats = message.Stats{Elapsed: time.Hour, Steps: []message.StepStats{{Kind: message.StepRequest, Started: 1 << 40, OK: 1 << 40, BytesIn: 1 << 50}}}
		f.Shards = append(f.Shards, s)
	}
	out := &message.JobProgress{}
	before := out.Size()
	out.Subjob.Workers = m.snapshot(world(small()), p).Workers
	if got := out.Size() - before; got > 24<<10 {
		t.Errorf("its workers take %d bytes", got)
	}
}

func BenchmarkWorkerShares(b *testing.B) {
	var lag stats.Histogram
	for v := range uint64(200) {
		lag.Record(v * v * 1000)
	}
	for _, n := range []int{4, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, p := New(small()), &subjob.Subjob{}
			f := &subjob.Workflow{Subjob: p, Plan: &message.WorkflowPlan{}}
			p.Workflows = []*subjob.Workflow{f}
			for i := range n {
				s := &subjob.Shard{Workflow: f, Worker: node.ID(fmt.Sprintf("w%d", i)), State: message.WorkflowRunning, Progress: &message.ShardProgress{}}
				s.Progress.Stats = message.Stats{Steps: []message.StepStats{{Kind: message.StepRequest, Started: 9}}, Generator: message.Generator{Lag: lag.Wire()}}
				f.Shards = append(f.Shards, s)
			}
			env := world(small())
			b.ReportAllocs()
			for b.Loop() {
				m.snapshot(env, p)
			}
		})
	}
}
