package outputs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hyperscale/core/message"
)

// QueueMax bounds the rows that wait for one sink, in bytes: at 200 steps in 3 datacenters, those of two minutes.
const QueueMax = 8 << 20

// CheckMax bounds the check of a place before the run.
const CheckMax = 10 * time.Second

// Pace says how long a shell waits.
type Pace struct {
	Min, Max time.Duration // between two tries: full jitter, doubled from Min up to Max
	Denied   time.Duration // credentials that are rejected for so long never get better
	Last     time.Duration // the longest wait between two tries once the job has ended
	Grace    time.Duration // for a try that does not return when its time is over
}

// DefaultPace is that of the manual.
func DefaultPace() Pace {
	return Pace{Min: 500 * time.Millisecond, Max: 30 * time.Second, Denied: 5 * time.Minute, Last: 2 * time.Second, Grace: time.Second}
}

// Shell delivers rows to one sink, beside everything else: those that Offer queues, or parcels (Carry).
type Shell struct {
	limits Limits
	exact  Delivery
	sink   Sink
	pace   Pace
	dead   *letters
	tags   []message.Tag // of each row, beside its own
	sums   bool          // its rows need sums
	work   sync.WaitGroup
	begin  sync.Once     // of the loops
	news   chan struct{} // there are rows, or the job has ended
	stop   context.CancelFunc
	tries  context.Context

	mu     sync.Mutex // of all below
	queue  queue
	next   uint64 // number of the next batch
	retry  retry
	ending chan struct{} // closed: no rows follow
	report Report
	closed bool
}

// NewShell begins to deliver. Name is what reports call the sink.
func NewShell(name string, s *Settings, sink Sink, pace Pace) *Shell {
	limits := s.Kind.Limits.Filled()
	ctx, stop := context.WithCancel(context.Background())
	h := &Shell{
		limits: limits, exact: s.Kind.Delivery, sink: sink, pace: pace, stop: stop, tries: ctx,
		news: make(chan struct{}, limits.Parallel), ending: make(chan struct{}), retry: newRetry(pace),
		report: Report{Name: name, Kind: s.Kind.Name},
		dead:   &letters{file: s.Text("dead_letters")}, tags: s.Tags, sums: s.Kind.Sums,
	}
	return h
}

// Offer takes rows. It never waits: what does not fit becomes wider rows, or is lost.
func (h *Shell) Offer(rows []Row) {
	h.begin.Do(func() {
		for range h.limits.Parallel {
			h.work.Go(h.loop)
		}
	})
	h.mu.Lock()
	for i := range rows {
		h.report.Rows++
		tag(&rows[i], h.tags)
		if h.report.Failed != "" {
			h.report.lose(&rows[i])
			continue
		}
		h.queue.add(rows[i], &h.report)
	}
	h.mu.Unlock()
	h.wake()
}

// tag adds a sink's tags to those of the row, which win.
func tag(r *Row, all []message.Tag) {
	own := r.Tags
	for _, t := range all {
		if !slices.ContainsFunc(own, func(o message.Tag) bool { return o.Name == t.Name }) {
			r.Tags = append(slices.Clip(r.Tags), t)
		}
	}
}

func (h *Shell) wake() {
	for range h.limits.Parallel {
		select {
		case h.news <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// Finish says that no rows follow, and waits until all are delivered, or the context ends. It returns the report.
func (h *Shell) Finish(ctx context.Context) Report {
	h.finish(ctx)
	return h.Report()
}

// finish returns what closes when no try runs any more, which it has not waited for beyond Pace.Grace.
func (h *Shell) finish(ctx context.Context) (done chan struct{}) {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.ending)
	}
	h.mu.Unlock()
	done = make(chan struct{})
	go func() {
		h.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		h.stop()
		select {
		case <-done:
		case <-time.After(h.pace.Grace): // nothing waits for a sink that hangs
		}
	}
	return done
}

// Report is how far the sink is.
func (h *Shell) Report() Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.report
	r.Behind = r.Rows - r.Delivered - r.Rejected - r.Lost - r.Merged
	if err := h.dead.fault(); err != nil {
		r.Letters = err.Error()
	}
	return r
}

// Close gives up what waits, and closes the sink. A sink whose try hangs is closed once the try returns.
func (h *Shell) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	done := h.finish(ctx)
	h.stop()
	select {
	case <-done:
		h.release()
	default:
		go func() {
			<-done
			h.release()
		}()
	}
}

// release follows the last try.
func (h *Shell) release() {
	h.sink.Close()
	h.dead.close()
}

// loop delivers batches until the job has ended and none is left.
func (h *Shell) loop() {
	for {
		b, ok := h.gather()
		if !ok {
			return
		}
		h.deliver(b, &course{ctx: h.tries, report: &h.report, ending: h.ending})
	}
}

// gather waits for rows, and for others to go with them.
func (h *Shell) gather() (Batch, bool) {
	for {
		h.mu.Lock()
		wait, full := h.queue.age(time.Now(), h.limits)
		ended := h.closed
		if h.queue.len() > 0 && (full || ended || wait <= 0) {
			h.next++
			b := Batch{Number: h.next, Rows: h.queue.take(h.limits)}
			h.mu.Unlock()
			return b, true
		}
		h.mu.Unlock()
		if ended {
			return Batch{}, false
		}
		select {
		case <-h.news:
		case <-time.After(wait):
		case <-h.ending:
		case <-h.tries.Done():
			return Batch{}, false
		}
	}
}

// course is what a batch is delivered for.
type course struct {
	ctx    context.Context  // its end ends the tries
	report *Report          // where the rows count; of Shell.mu
	ending <-chan struct{}  // closed: no rows follow; nil: more may
	since  time.Time        // rejected credentials are waited for from then on; zero: from the first rejection
	news   func(why string) // hears of each try that failed; nil: nothing does
}

// deliver tries a batch until it has an end.
func (h *Shell) deliver(b Batch, c *course) {
	unclear := false
	for b.Try = 1; ; b.Try++ {
		if c.ctx.Err() != nil || h.failed(c) {
			h.leave(b.Rows, c)
			return
		}
		if unclear && h.exact == AtLeastOnce {
			h.twice(b.Rows, c)
			unclear = false
		}
		ctx, cancel := context.WithTimeout(c.ctx, h.limits.Timeout)
		out := h.sink.Deliver(ctx, b)
		cancel()
		switch out.Verdict {
		case VerdictDelivered:
			h.done(b.Rows, c, out)
			return
		case VerdictRejected:
			h.done(b.Rows, c, out)
			return
		case VerdictSmaller:
			if len(b.Rows) > 1 {
				h.halve(b, c)
				return
			}
			h.done(b.Rows, c, Rejected(nil, "one row is too large for it: "+out.Why))
			return
		case VerdictUnclear:
			unclear = true
		case VerdictAgain, VerdictDenied, VerdictNone:
		}
		if h.exact == AtMostOnce {
			h.lost(b.Rows, c, out.Why)
			return
		}
		if !h.pause(out, c) {
			h.leave(b.Rows, c)
			return
		}
	}
}

// halve delivers a batch in two parts, which have numbers of their own.
func (h *Shell) halve(b Batch, c *course) {
	for _, rows := range [][]Row{b.Rows[:len(b.Rows)/2], b.Rows[len(b.Rows)/2:]} {
		h.mu.Lock()
		h.next++
		part := Batch{Number: h.next, Rows: rows, Again: b.Again}
		h.mu.Unlock()
		h.deliver(part, c)
	}
}

// pause waits before the next try. It returns false if there is none.
func (h *Shell) pause(out Outcome, c *course) bool {
	h.mu.Lock()
	c.report.Why = out.Why
	c.report.Tries++
	wait, over := h.retry.failed(out, time.Now(), c.since)
	if over {
		c.report.Failed = out.Why
	}
	ended := h.closed
	h.mu.Unlock()
	if over {
		return false
	}
	if c.news != nil {
		c.news(out.Why)
	}
	if ended {
		wait = max(min(wait, h.pace.Last), out.After)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	ending := c.ending
	if ended || out.After > 0 {
		ending = nil
	}
	select {
	case <-timer.C:
	case <-ending: // the last rows are worth a try at once
	case <-c.ctx.Done():
		return false
	}
	return true
}

func (h *Shell) failed(c *course) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return c.report.Failed != ""
}

// done counts a batch that the place has, but for rejected rows.
func (h *Shell) done(rows []Row, c *course, out Outcome) {
	bad := map[int]bool{}
	if out.Verdict == VerdictRejected && out.Rows == nil {
		for i := range rows {
			bad[i] = true
		}
	}
	for _, i := range out.Rows {
		bad[i] = i >= 0 && i < len(rows)
	}
	h.dead.add(h.settle(rows, c, bad, out.Why), out.Why)
}

// settle counts a batch by its rejected rows, and returns those.
func (h *Shell) settle(rows []Row, c *course, bad map[int]bool, why string) (rejected []*Row) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retry.delivered()
	for i := range rows {
		if !bad[i] {
			c.report.Delivered++
			continue
		}
		c.report.reject(&rows[i], why)
		rejected = append(rejected, &rows[i])
	}
	return rejected
}

func (h *Shell) twice(rows []Row, c *course) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.report.PerhapsTwice += uint64(len(rows))
}

func (h *Shell) lost(rows []Row, c *course, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.report.Why = why
	for i := range rows {
		c.report.lose(&rows[i])
	}
}

// leave counts rows that are not tried again: lost if the sink has failed, else behind.
func (h *Shell) leave(rows []Row, c *course) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.report.Failed == "" {
		return
	}
	for i := range rows {
		c.report.lose(&rows[i])
	}
	if c.report != &h.report {
		return
	}
	for _, r := range h.queue.take(Limits{Rows: h.queue.len(), Bytes: QueueMax}) {
		h.report.lose(&r)
	}
}

// Sums says that the rows of the sink need sums: output.Ledger.Sum makes them.
func (h *Shell) Sums() bool { return h.sums }

// Name is what reports call the sink.
func (h *Shell) Name() string { return h.report.Name }

// Check finds out before the run whether the sink will take rows, and the file those that it rejects.
func (h *Shell) Check() error {
	ctx, cancel := context.WithTimeout(h.tries, CheckMax)
	defer cancel()
	if err := h.dead.check(); err != nil {
		return err
	}
	err := h.sink.Check(ctx)
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("no answer within %v: correct the address, or look at the server: %w", CheckMax, err)
	}
	return err
}
