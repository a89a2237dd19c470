package manager

import (
	"fmt"
	"testing"

	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// manyPlacing is a manager with a number of workers, each with the given free cores, and a
// waiting workflow.
func manyPlacing(workers int, cores uint32) *placing {
	p := &placing{}
	p.Env = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
		New:  func() node.Machine { p.m = New(small()); return p.m },
	})
	p.Discard = true
	p.Start()
	for i := range workers {
		stand(p.m, node.ID(fmt.Sprintf("worker-%04d", i)), &message.WorkerHeartbeat{CoresTotal: cores, CoresFree: cores})
	}
	p.shard = &subjob.Shard{Workflow: &subjob.Workflow{Subjob: &subjob.Subjob{Job: message.JobID{1}, Dispatch: &message.JobDispatch{}, State: message.JobRunning}}, Extent: subjob.Extent{Cores: 1}, State: message.WorkflowPending}
	return p
}

// A shard that needs more cores than any worker has free blocks neither a smaller shard nor a
// later one.
func TestALargeShardHidesNoSmallOne(t *testing.T) {
	for _, cores := range [][]uint32{{4, 1}, {1, 4}, {4, 3, 2, 1}, {4, 2, 4, 1}, {3, 1, 1}} {
		p := manyPlacing(2, 2)
		f := p.shard.Workflow
		f.Plan, f.Started, f.State = &message.WorkflowPlan{Name: "a", Cores: 4}, p.Now(), message.WorkflowPending
		for i, n := range cores {
			f.Shards = append(f.Shards, &subjob.Shard{Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Ordinal: uint32(i)}, Extent: subjob.Extent{Cores: n}, State: message.WorkflowPending, NotBefore: p.Now()})
		}
		free := uint32(4)
		p.m.placeShards(p, f)
		for i, s := range f.Shards {
			if want := s.Cores <= 2 && s.Cores <= free; (s.Worker != "") != want {
				t.Errorf("of shards of %v cores number %d is on %q, and two workers with two cores each had %d left", cores, i, s.Worker, free)
			} else if want {
				free -= s.Cores
			}
		}
	}
}

// sizes are the datacenter sizes of the benchmarks.
func sizes() []int { return []int{1000, 10_000} }

func BenchmarkCut(b *testing.B) {
	for _, workers := range sizes() {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				p := manyPlacing(workers, 1)
				f := p.waiting(uint32(workers))
				b.StartTimer()
				p.m.cut(p, f)
			}
		})
	}
}

// waiting is a workflow that wants the given cores, which may be all free ones.
func (p *placing) waiting(cores uint32) *subjob.Workflow {
	f := p.shard.Workflow
	f.Plan = &message.WorkflowPlan{Name: "a", Test: true, VUs: uint64(cores), Cores: cores}
	f.Subjob.Workflows, f.Subjob.Dispatch.Plan.Workflows = []*subjob.Workflow{f}, []message.WorkflowPlan{*f.Plan}
	f.Ready, f.State, f.Subjob.State = p.Now(), message.WorkflowPending, message.JobQueued
	return f
}

// lost gives a workflow a shard on each worker, and loses them all.
func (p *placing) lost(workers int) *subjob.Workflow {
	f := p.waiting(uint32(workers))
	f.Started = p.Now()
	for i := range workers {
		f.Shards = append(f.Shards, &subjob.Shard{
			Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Ordinal: uint32(i)}, Extent: subjob.Extent{Cores: 1}, State: message.WorkflowPending,
			Retries: subjob.Retries{Failed: []node.ID{node.ID(fmt.Sprintf("worker-%04d", i))}}, NotBefore: p.Now(),
		})
	}
	return f
}

// All workers lost their shard, and all are back.
func BenchmarkPlaceAgain(b *testing.B) {
	for _, workers := range sizes() {
		for _, cores := range []uint32{0, 1} {
			b.Run(fmt.Sprintf("workers=%d/cores=%d", workers, cores), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					p := manyPlacing(workers, cores)
					f := p.lost(workers)
					b.StartTimer()
					p.m.placeShards(p, f)
				}
			})
		}
	}
}

// Shards that find no worker do not copy or sort the list of a thousand workers, however many
// shards wait.
func TestShardsThatWaitCopyNoWorkers(t *testing.T) {
	const workers = 1000
	p := manyPlacing(workers, 0)
	f := p.lost(workers)
	if n := testing.AllocsPerRun(3, func() { p.m.placeShards(p, f) }); n > 10 {
		t.Errorf("%d shards that wait make %v allocations beside %d workers, want none", workers, n, workers)
	}
}

// A heartbeat while a workflow waits for cores.
func BenchmarkHeartbeat(b *testing.B) {
	for _, workers := range sizes() {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			p := manyPlacing(workers, 1)
			f := p.waiting(uint32(workers) + 1)
			w := p.m.roster.Of("worker-0000")
			hb := &message.WorkerHeartbeat{Sequence: 1, Datacenter: p.m.config.Datacenter, CoresTotal: 1, CoresFree: 1}
			in := &node.Input{Stream: w.Stream, From: w.Peer, Message: hb}
			b.ReportAllocs()
			for b.Loop() {
				hb.Sequence++
				p.m.onWorkerHeartbeat(p, in, hb)
				p.m.cut(p, f)
			}
		})
	}
}
