package output

import (
	"fmt"
	"testing"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// busy is a job of so many steps in so many datacenters, whose latencies fill some 200 buckets a step.
type busy struct {
	status *message.JobStatus
	of     []*stats.Histogram
}

func newBusy(datacenters, steps int) *busy {
	b := &busy{status: &message.JobStatus{Job: message.JobOf("a"), Name: "t.star", State: message.JobRunning}}
	for d := range datacenters {
		w := message.WorkflowResult{Name: "shop", State: message.WorkflowRunning, Stats: message.Stats{Active: 100}}
		for s := range steps {
			w.Stats.Steps = append(w.Stats.Steps, message.StepStats{Name: fmt.Sprint("step ", s), Kind: message.StepRequest})
			b.of = append(b.of, new(stats.Histogram))
		}
		b.status.Datacenters = append(b.status.Datacenters, message.DatacenterResult{Name: fmt.Sprint("dc ", d), Workflows: []message.WorkflowResult{w}})
	}
	return b
}

// pass lets ten seconds go by.
func (b *busy) pass() *message.JobStatus {
	b.status.Elapsed += 10 * time.Second
	for d := range b.status.Datacenters {
		all := b.status.Datacenters[d].Workflows[0].Stats.Steps
		for s := range all {
			h := b.of[d*len(all)+s]
			for i := range uint64(1000) {
				h.RecordN(1_000_000+i*i*13_000, 1)
			}
			all[s].Started, all[s].OK = all[s].Started+1000, all[s].OK+990
			all[s].Failed += 10
			all[s].Statuses = []message.StatusCount{{Status: 200, Count: all[s].OK}, {Status: 503, Count: all[s].Failed}}
			all[s].Errors = []message.ErrorCount{{Kind: "status", Count: all[s].Failed}}
			all[s].Latency = h.Wire()
		}
	}
	return b.status
}

// BenchmarkWindow is what a window of 10 s costs the owner of a job for each sink: rows, their file, and the end of the
// batch. The bar is 1 ms with 10 steps in 3 datacenters.
func BenchmarkWindow(b *testing.B) {
	job, s := newBusy(3, 10), NewStream(message.JobOf("a"), "t.star", Sink{Name: "lake", Window: 10 * time.Second}, 1)
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		b.StopTimer()
		status := job.pass()
		b.StartTimer()
		s.Cut(status)
		file, ok := s.Next()
		if !ok {
			b.Fatal("no batch")
		}
		s.Kept(archive.DigestOf(file))
		s.Saved()
		s.Delivered(&node.Delivered{Verdict: node.DeliveryDone}, nil)
		size = len(file)
	}
	b.ReportMetric(float64(size), "B/file")
}
