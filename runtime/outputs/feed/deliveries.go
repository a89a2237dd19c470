package feed

import (
	"context"
	"slices"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/output"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/report"
)

// Deliveries follow one job for the sinks of a command. One goroutine calls Apply, Finish or Leave, and Close.
type Deliveries struct {
	shells []*outputs.Shell
	spans  []time.Duration // windows, by shell
	latest chan *message.JobStatus
	done   chan struct{} // closed: the goroutine that makes rows has ended; nil before the first status
	feeds  map[time.Duration]*output.Ledger
	start  time.Time
	close  sync.Once
}

// Add gives a sink the rows of the job, in windows of a length. It must precede the first status.
func (d *Deliveries) Add(s *outputs.Shell, window time.Duration) {
	d.shells, d.spans = append(d.shells, s), append(d.spans, window)
}

// Apply takes a status. It never waits: a newer status replaces one that no row has yet.
func (d *Deliveries) Apply(s *message.JobStatus) {
	if len(d.shells) == 0 {
		return
	}
	if d.done == nil {
		d.begin(s.Job, s.Name, s.Elapsed)
	}
	for {
		select {
		case d.latest <- s:
			return
		default:
		}
		select {
		case <-d.latest: // an older one
		default:
		}
	}
}

func (d *Deliveries) begin(job message.JobID, test string, elapsed time.Duration) {
	d.start = time.Now().Add(-elapsed)
	d.latest, d.done, d.feeds = make(chan *message.JobStatus, 1), make(chan struct{}), map[time.Duration]*output.Ledger{}
	for _, w := range d.spans {
		if d.feeds[w] == nil {
			d.feeds[w] = output.New(job, test, w, d.start)
		}
	}
	go func() {
		defer close(d.done)
		for s := range d.latest {
			d.offer(func(f *output.Ledger) []outputs.Row { return f.Apply(s) })
		}
	}()
}

// offer gives each shell the rows of its windows.
func (d *Deliveries) offer(rows func(*output.Ledger) []outputs.Row) {
	made := map[time.Duration][]outputs.Row{}
	for i, shell := range d.shells {
		w := d.spans[i]
		if _, has := made[w]; !has {
			made[w] = rows(d.feeds[w])
		}
		own := slices.Clone(made[w])
		if shell.Sums() {
			d.feeds[w].Sum(own)
		}
		shell.Offer(own)
	}
}

// Finish delivers the end until the context ends, and reports on each sink.
func (d *Deliveries) Finish(ctx context.Context, r *message.Result, built *report.Result) []outputs.Report {
	if len(d.shells) == 0 {
		return nil
	}
	if d.done == nil {
		d.begin(r.Job, r.Name, r.Duration)
	}
	d.end()
	var run output.Run
	if built.Run != nil {
		run.Version, run.ProgramDigest = built.Run.Version, built.Run.ProgramDigest()
	}
	d.offer(func(f *output.Ledger) []outputs.Row { return f.Finish(r, run) })
	return d.finish(ctx)
}

// Leave delivers the rows so far until the context ends, and reports on each sink. Nothing follows but Close.
func (d *Deliveries) Leave(ctx context.Context) []outputs.Report {
	if len(d.shells) == 0 {
		return nil
	}
	d.end()
	return d.finish(ctx)
}

func (d *Deliveries) finish(ctx context.Context) []outputs.Report {
	reports := make([]outputs.Report, len(d.shells))
	var all sync.WaitGroup
	for i, shell := range d.shells {
		all.Go(func() { reports[i] = shell.Finish(ctx) })
	}
	all.Wait()
	return reports
}

// end waits until each status has its rows.
func (d *Deliveries) end() {
	d.close.Do(func() {
		if d.done != nil {
			close(d.latest)
			<-d.done
		}
	})
}

// Close gives up what waits. It may follow Finish, and may be called again.
func (d *Deliveries) Close() {
	d.end()
	for _, s := range d.shells {
		s.Close()
	}
	d.shells = nil
}
