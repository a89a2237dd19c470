package manager

import (
	"fmt"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// manyPlacing is a manager of workers with so many free cores each, and a workflow that
// waits.
func manyPlacing(workers int, cores uint32) *placing {
	p := &placing{}
	p.Env = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
		New:  func() node.Machine { p.m = New(small()); return p.m },
	})
	p.Discard = true
	p.Start()
	for i := range workers {
		w := p.m.known(node.ID(fmt.Sprintf("worker-%04d", i)))
		w.registered, w.stream, w.total, w.reported = true, node.StreamID(1000+i), cores, cores
	}
	p.shard = &shard{workflow: &workflow{subjob: &subjob{job: message.JobID{1}, dispatch: &message.JobDispatch{}, state: message.JobRunning}}, cores: 1, state: message.WorkflowPending}
	return p
}

// A shard that needs more cores than any worker has free hides neither one that needs
// fewer, nor one that waits behind it.
func TestALargeShardHidesNoSmallOne(t *testing.T) {
	for _, cores := range [][]uint32{{4, 1}, {1, 4}, {4, 3, 2, 1}, {4, 2, 4, 1}, {3, 1, 1}} {
		p := manyPlacing(2, 2)
		f := p.shard.workflow
		f.plan, f.started, f.state = &message.WorkflowPlan{Name: "a", Cores: 4}, p.Now(), message.WorkflowPending
		for i, n := range cores {
			f.shards = append(f.shards, &shard{workflow: f, id: message.ShardID{Job: f.subjob.job, Ordinal: uint32(i)}, cores: n, state: message.WorkflowPending, notBefore: p.Now()})
		}
		free := uint32(4)
		p.m.placeShards(p, f)
		for i, s := range f.shards {
			if want := s.cores <= 2 && s.cores <= free; (s.worker != "") != want {
				t.Errorf("of shards of %v cores number %d is on %q, and two workers with two cores each had %d left", cores, i, s.worker, free)
			} else if want {
				free -= s.cores
			}
		}
	}
}

func BenchmarkCut(b *testing.B) {
	for _, workers := range []int{100, 1000} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				p := manyPlacing(workers, 1)
				f := p.shard.workflow
				f.plan = &message.WorkflowPlan{Name: "a", Test: true, VUs: uint64(workers), Cores: uint32(workers)}
				f.ready, f.state, f.subjob.state = p.Now(), message.WorkflowPending, message.JobQueued
				b.StartTimer()
				p.m.cut(p, f, 1)
			}
		})
	}
}
