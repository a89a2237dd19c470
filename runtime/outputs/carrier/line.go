package carrier

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/outputs"
)

// line is one sink with what waits for it.
type line struct {
	config   *Config
	sink     Sink
	shell    *outputs.Shell
	room     int           // bytes
	news     chan struct{} // takes one value: something waits
	stop     context.CancelFunc
	lives    context.Context // until close
	work     sync.WaitGroup
	answered func(node.Delivered)

	mu    sync.Mutex
	all   []*parcel // in the order in which they came; those on their way among them
	bytes int
	lost  time.Time // when rows were lost last
	tries uint64    // that failed
	why   string    // the last failure, of a sink that has not taken a batch since

	checked bool
	fault   string // why the last check failed; empty: it did not
}

// parcel is a delivery that has no last answer yet.
type parcel struct {
	node.Delivery
	since  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	taken  bool // a goroutine delivers it
}

func newLine(c *Config, s Sink, room int) *line {
	l := &line{config: c, sink: s, room: room, news: make(chan struct{}, 1), shell: outputs.NewShell(s.Name, s.Settings, s.Place, c.Pace)}
	l.lives, l.stop = context.WithCancel(context.Background())
	return l
}

// begin starts what delivers. The first goroutine checks the sink before it does.
func (l *line) begin(answered func(node.Delivered)) {
	l.answered = answered
	for i := range l.shell.Parallel() {
		l.work.Go(func() { l.run(i == 0) })
	}
}

// add takes a delivery, if there is room for it. An empty line takes one of any size.
func (l *line) add(d node.Delivery) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := l.sizeOf(&d)
	if len(l.all) > 0 && l.bytes+size > l.room {
		return false
	}
	p := &parcel{Delivery: d, since: time.Now()}
	p.ctx, p.cancel = context.WithCancel(l.lives)
	l.all, l.bytes = append(l.all, p), l.bytes+size
	l.wake()
	return true
}

func (l *line) wake() {
	select {
	case l.news <- struct{}{}:
	default: // it will look anyway
	}
}

// drop forgets a delivery, and ends its try.
func (l *line) drop(id node.DeliveryID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.IndexFunc(l.all, func(p *parcel) bool { return p.ID == id }); at >= 0 {
		l.remove(at)
	}
}

// remove takes a parcel out. The caller holds the lock.
func (l *line) remove(at int) {
	p := l.all[at]
	p.cancel()
	l.all, l.bytes = slices.Delete(l.all, at, at+1), l.bytes-l.sizeOf(&p.Delivery)
}

// sizeOf is about how much memory a delivery takes.
func (l *line) sizeOf(d *node.Delivery) int {
	if l.shell.Sums() {
		return inMemoryWithSums * len(d.Batch)
	}
	return inMemory * len(d.Batch)
}

// next waits for a parcel that nothing delivers yet; nil: the line is closed. What waits for none, and checks, looks now
// and then whether a sink is back whose check has failed.
func (l *line) next(checks bool) *parcel {
	again := time.NewTicker(checkEvery)
	defer again.Stop()
	for l.lives.Err() == nil {
		l.mu.Lock()
		at := slices.IndexFunc(l.all, func(p *parcel) bool { return !p.taken })
		if at >= 0 {
			p := l.all[at]
			p.taken = true
			if slices.ContainsFunc(l.all[at:], func(p *parcel) bool { return !p.taken }) {
				l.wake() // another one may take the next
			}
			l.mu.Unlock()
			return p
		}
		away := l.fault != ""
		l.mu.Unlock()
		select {
		case <-l.news:
		case <-again.C:
			if checks && away {
				l.check()
			}
		case <-l.lives.Done():
		}
	}
	return nil
}

// run delivers parcels, one after the other.
func (l *line) run(checks bool) {
	if checks {
		l.check()
	}
	for p := l.next(checks); p != nil; p = l.next(checks) {
		d, over := l.deliver(p)
		l.drop(p.ID)
		if over {
			l.answered(d)
		}
	}
}

// deliver tries a parcel until it has an end. It returns false for one that was forgotten.
func (l *line) deliver(p *parcel) (node.Delivered, bool) {
	d := node.Delivered{ID: p.ID}
	rows, err := l.config.Read(p.Batch, l.shell.Sums())
	if err != nil {
		d.Verdict, d.Why = node.DeliveryFailed, fmt.Sprintf("a batch of this job cannot be read: %v", err)
		return d, true
	}
	var told time.Time
	r := l.shell.Carry(p.ctx, &outputs.Parcel{Rows: rows, Since: p.since, Again: p.Again, News: func(why string) {
		l.mu.Lock()
		l.tries, l.why = l.tries+1, why
		l.mu.Unlock()
		if now := time.Now(); now.Sub(told) >= newsEvery {
			told = now
			l.answered(node.Delivered{ID: p.ID, Verdict: node.DeliveryTrying, Why: why})
		}
	}})
	if r.Behind > 0 {
		return d, false
	}
	d.Verdict, d.Rejected, d.RejectedRequests, d.Twice = node.DeliveryDone, r.Rejected, r.RejectedRequests, r.PerhapsTwice
	d.Lost, d.LostRequests = r.Lost, r.LostRequests
	if r.Failed != "" {
		d = node.Delivered{ID: p.ID, Verdict: node.DeliveryFailed, Why: r.Failed, Twice: r.PerhapsTwice}
	} else if !r.Whole() {
		d.Why = r.Because()
	}
	if r.Delivered > 0 {
		l.found("")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Lost > 0 {
		l.lost = time.Now()
	}
	if l.why = ""; d.Verdict == node.DeliveryFailed {
		l.why = d.Why
	}
	return d, true
}

// check finds out whether the sink takes rows. Its caller delivers nothing meanwhile, if the kind takes one batch at once.
func (l *line) check() {
	err := l.shell.Check()
	if l.lives.Err() != nil {
		return
	}
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	l.found(fault)
}

// found keeps whether the sink takes rows, and logs when that changes.
func (l *line) found(fault string) {
	l.mu.Lock()
	first, before := !l.checked, l.fault
	l.checked, l.fault = true, fault
	l.mu.Unlock()
	attributes := []any{"sink", l.sink.Name, "kind", l.sink.Settings.Kind.Name}
	switch {
	case fault != "" && before == "":
		l.config.Logger.Warn("sink takes no rows: they wait for it", append(attributes, "required", l.sink.Required, "error", fault)...)
	case fault == "" && before != "" || first && fault == "":
		l.config.Logger.Info("sink takes rows", attributes...)
	}
}

// close ends the tries, and closes the sink once none is under way. It waits for that no longer than a try may take to end.
func (l *line) close() {
	l.stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.work.Wait()
		l.shell.Close()
	}()
	select {
	case <-done:
	case <-time.After(l.config.Pace.Grace):
	}
}
