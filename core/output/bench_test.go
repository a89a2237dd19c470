package output

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// busy is a job of so many steps in so many datacenters.
type busy struct {
	status message.JobStatus
	of     []*stats.Histogram
	next   func() uint64 // the next latency, in nanoseconds
}

func newBusy(datacenters, steps int, next func() uint64) *busy {
	b := &busy{status: message.JobStatus{Job: message.JobOf("a"), Name: "t.star", State: message.JobRunning}, next: next}
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

// pass lets ten seconds go by, with a thousand requests of each step in each datacenter.
func (b *busy) pass() *message.JobStatus {
	b.status.Elapsed += 10 * time.Second
	now := b.status
	now.Datacenters = slices.Clone(b.status.Datacenters)
	for d := range now.Datacenters {
		w := &b.status.Datacenters[d].Workflows[0]
		for s := range w.Stats.Steps {
			h := b.of[d*len(w.Stats.Steps)+s]
			for range 1000 {
				h.Record(b.next())
			}
			one := &w.Stats.Steps[s]
			one.Started, one.OK, one.Failed = one.Started+1000, one.OK+990, one.Failed+10
			one.Statuses = []message.StatusCount{{Status: 200, Count: one.OK}, {Status: 503, Count: one.Failed}}
			one.Errors = []message.ErrorCount{{Kind: "status", Count: one.Failed}}
			one.Latency = h.Wire()
		}
		then := *w
		then.Stats.Steps = slices.Clone(w.Stats.Steps)
		now.Datacenters[d].Workflows = []message.WorkflowResult{then}
	}
	return &now
}

// BenchmarkWindow is what a window of 10 s costs the owner of a job for each sink: rows, their file, and the end of the
// batch. The bar is 1 ms with 10 steps in 3 datacenters. Latencies are those of a server that answers around 20 ms, or
// lie anywhere between 1 ms and 13 s.
func BenchmarkWindow(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	n := uint64(0)
	b.Run("around 20ms", func(b *testing.B) {
		benchWindow(b, func() uint64 { return uint64(20e6 * math.Exp(0.5*random.NormFloat64())) })
	})
	b.Run("1ms to 13s", func(b *testing.B) {
		benchWindow(b, func() uint64 { n = (n + 1) % 1000; return 1_000_000 + n*n*13_000 })
	})
}

func benchWindow(b *testing.B, next func() uint64) {
	job := newBusy(3, 10, next)
	all := make([]*message.JobStatus, 100)
	buckets := 0 // of one step, in all reports
	for i := range all {
		all[i] = job.pass()
		job.of[0].Each(func(_, _ uint64) { buckets++ })
	}
	b.ReportAllocs()
	var s *Stream
	size, k := 0, len(all)
	for b.Loop() {
		if k == len(all) {
			s, k = NewStream(message.JobOf("a"), "t.star", Sink{Name: "lake", Window: 10 * time.Second}, 1), 0
		}
		s.Cut(all[k])
		k++
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
	b.ReportMetric(float64(buckets)/float64(len(all)), "buckets/step")
}
