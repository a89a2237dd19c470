package engine

import (
	"bytes"
	"fmt"
	"slices"

	"hyperscale/core/load"
	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/feed"
	"hyperscale/runtime/engine/pool"
)

// Lessor leases blocks of rows of a unique feed, which no other process has.
type Lessor interface {
	Ask(want uint64)                        // only while no request is open
	Answer() (first, count uint64, ok bool) // count 0: no rows are left; not ok: no answer yet
	OnAnswer(wake func())                   // wake runs on another goroutine
}

// askEvery is how long a block of rows should last at least. askAhead is the share of it that
// is left when the engine requests the next one: an answer takes a few milliseconds.
const (
	askEvery = int64(500_000_000)
	askAhead = 2
	askLeast = 16
)

// rows says which row of the workflow's feed an iteration takes. Without leases, iteration
// number k takes row k, and this process has the rows of its users.
type rows struct {
	plan   *message.FeedPlan
	reader *feed.Reader
	order  feed.Sequence
	share  message.RowShare
	turns  load.Turns
	lessor Lessor
	taken  uint64
	of     []uint64 // by user: its row
	needed []int    // columns that fill requests
	ended  bool     // no rows are left
	open   bool     // a request has no answer yet

	first, count uint64 // the rest of the block
	size         uint64 // size of the block
	since        int64  // when the block arrived
	next         block  // the block after it
}

// block is rows first up to first+count.
type block struct{ first, count uint64 }

// newRows returns nil for a workflow without a feed.
func newRows(cfg Config) (*rows, error) {
	w := cfg.Workflow
	if w.Feed == nil {
		return nil, nil
	}
	table := cfg.Feed
	if table == nil {
		table = w.Feed.Table
	}
	if table == nil {
		return nil, fmt.Errorf("feed %q is not in memory", w.Plan.Feed.Name)
	}
	plan := w.Plan.Feed
	r := &rows{
		plan: &plan, reader: feed.NewReader(table), order: feed.NewSequence(plan.Order, plan.Rows, node.MixString(cfg.Seed, plan.Name)),
		share: cfg.Rows, turns: load.NewTurns(max(w.Plan.VUs, cfg.FirstVU+cfg.VUs), cfg.FirstVU, cfg.VUs), of: make([]uint64, cfg.VUs+1),
	}
	for i := range w.Columns {
		if slices.ContainsFunc(w.Steps, func(s workflow.Step) bool { return slices.Contains(s.Needs, i) }) {
			r.needed = append(r.needed, i)
		}
	}
	if plan.Unique {
		r.lessor = cfg.Lessor
	}
	return r, nil
}

// ready reports whether the next iteration has a row. If not, it waits, or no rows are left.
func (r *rows) ready(now int64) bool {
	if r.ended {
		return false
	}
	if r.lessor == nil {
		r.ended = r.plan.AtEnd != message.RowsCycle && feed.Position(r.share, r.turns.Peek()) >= r.plan.Rows
		return !r.ended
	}
	if r.open {
		if first, count, ok := r.lessor.Answer(); ok {
			r.open = false
			r.next = block{first, count}
			if count == 0 {
				r.ended = r.count == 0
				r.next.first = noMore
			}
		}
	}
	if r.count == 0 && r.next.count > 0 {
		r.first, r.count, r.size, r.since = r.next.first, r.next.count, r.next.count, now
		r.next = block{}
	}
	if r.count == 0 && r.next.first == noMore {
		r.ended = true
		return false
	}
	if !r.open && r.next == (block{}) && r.count <= r.size/askAhead {
		r.open = true
		r.lessor.Ask(r.want(now))
	}
	return r.count > 0
}

// noMore marks that the lessor has no rows left.
const noMore = ^uint64(0)

// want returns how many rows to request: twice as many if the last ones went too fast.
func (r *rows) want(now int64) uint64 {
	switch {
	case r.size == 0:
		return askLeast
	case now-r.since < askEvery:
		return min(2*r.size, feed.BlockMax)
	}
	return max(r.size/2, askLeast)
}

// take gives a user the row of its iteration, which is ready.
func (r *rows) take(vu int32) {
	position := r.first
	if r.lessor == nil {
		position = feed.Position(r.share, r.turns.Next())
	} else {
		r.first++
		r.count--
	}
	r.taken++
	r.of[vu] = r.order.Row(position)
}

// lay sets the values of a user's row as values of its requests. They share the table's own
// bytes, except for those that had to be unescaped.
func (b *iterations) lay(vu int32) {
	if b.functions.script != nil {
		b.functions.scriptOf(vu).SetRow(b.rows.reader, b.rows.of[vu])
	}
	if len(b.rows.needed) == 0 {
		return
	}
	fields, to := b.rows.reader.Read(b.rows.of[vu]), b.requests.values.of(vu)
	for _, i := range b.rows.needed {
		if to[i] = fields[i]; b.rows.reader.Made(i) {
			to[i] = bytes.Clone(fields[i])
		}
	}
}

// iterations begin as the schedule says, with a row if the workflow has a feed.
type iterations struct {
	*parts
	schedule  *schedule.Iterations
	rows      *rows // of the workflow's feed; nil: it has none
	awaitsRow bool
}

// nextIteration returns the schedule's next iteration, with a row if the workflow has a feed.
// An iteration without a row yet does not begin, and is owed. So is one while handshakes wait
// for this process: it would time out in the same queue. A cancelled run begins none, also in
// the turn of its cancel.
func (b *iterations) nextIteration() (schedule.Iteration, bool) {
	p, ok := b.chooseIteration()
	b.hangUpLeft()
	return p, ok
}

func (b *iterations) chooseIteration() (schedule.Iteration, bool) {
	if b.Halt.Cancelled.Load() || b.Handshakes.Ready.Len() > pool.HandshakesAhead {
		return schedule.Iteration{}, false
	}
	r := b.rows
	if r == nil || b.schedule.Spent() {
		return b.schedule.Next(b.Clock.Now)
	}
	if b.awaitsRow = !r.ready(b.Clock.Now) && !r.ended; b.awaitsRow {
		if b.Clock.Now >= b.course.over {
			b.schedule.Stop(b.Clock.Now)
		}
		return schedule.Iteration{}, false
	}
	if r.ended && r.plan.AtEnd != message.RowsFail {
		b.schedule.Stop(b.Clock.Now)
		return schedule.Iteration{}, false
	}
	p, ok := b.schedule.Next(b.Clock.Now)
	switch {
	case ok && r.ended:
		b.course.fault = fmt.Errorf("feed %q has no more rows, %d were taken here: give it more, or write at_end = \"stop\"", r.plan.Name, r.taken)
		b.Halt.Cancelled.Store(true)
		b.schedule.Ended(p.VU, b.Clock.Now)
		return schedule.Iteration{}, false
	case ok:
		r.take(p.VU)
	}
	return p, ok
}

// forget makes the lessor stop waking this loop.
func (r *rows) forget() {
	if r != nil && r.lessor != nil {
		r.lessor.OnAnswer(nil)
	}
}

// iterations returns how many iterations took a row.
func (r *rows) iterations() uint64 {
	if r == nil {
		return 0
	}
	return r.taken
}

// hangUpLeft closes the connections of users that have left, unless their teardown may need
// them.
func (b *iterations) hangUpLeft() {
	left := b.schedule.Left()
	if len(left) == 0 || b.cfg.Workflow.Has(workflow.HookVUTeardown) {
		return
	}
	for _, vu := range left {
		b.Sockets.HangUpAll(vu)
	}
}

// nextStart returns when the next iteration may begin.
func (b *iterations) nextStart() int64 {
	if b.awaitsRow {
		return b.course.over // unless rows arrive, which wakes the loop
	}
	return b.schedule.Wake()
}
