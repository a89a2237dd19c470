package engine

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/load"
	"hyperscale/core/load/barrier"
	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/feed"
	"hyperscale/runtime/engine/leases"
	"hyperscale/runtime/engine/pool"
)

// rows says which row of the workflow's feed an iteration takes. Without leases, iteration
// number k takes row k, and this process has the rows of its users.
type rows struct {
	plan          *message.FeedPlan
	reader        *feed.Reader
	order         feed.Sequence
	share         message.RowShare
	turns         load.Turns
	leases.Leases // of a unique feed
	taken         uint64
	rowOf         []uint64 // by user
	needed        []int    // columns that fill requests
}

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
		share: cfg.Rows, turns: load.NewTurns(max(w.Plan.VUs, cfg.FirstVU+cfg.VUs), cfg.FirstVU, cfg.VUs), rowOf: make([]uint64, cfg.VUs+1),
	}
	for i := range w.Columns {
		if slices.ContainsFunc(w.Steps, func(s workflow.Step) bool { return slices.Contains(s.Needs, i) }) {
			r.needed = append(r.needed, i)
		}
	}
	if plan.Unique {
		r.Lessor = cfg.Lessor
	}
	return r, nil
}

// ready reports whether the next iteration has a row. If not, it waits, or no rows are left.
func (r *rows) ready(now int64) bool {
	if r.Lessor != nil {
		return r.Leases.Ready(now)
	}
	if !r.Ended {
		r.Ended = r.plan.AtEnd != message.RowsCycle && feed.Position(r.share, r.turns.Peek()) >= r.plan.Rows
	}
	return !r.Ended
}

// take gives a user the row of its iteration, which is ready.
func (r *rows) take(vu int32) {
	var position uint64
	if r.Lessor == nil {
		position = feed.Position(r.share, r.turns.Next())
	} else {
		position = r.Leases.Take()
	}
	r.taken++
	r.rowOf[vu] = r.order.Row(position)
}

// lay sets the values of a user's row as values of its requests. They share the table's own
// bytes, except for those that had to be unescaped.
func (b *iterations) lay(vu int32) {
	if b.functions.script != nil {
		b.functions.scriptOf(vu).SetRow(b.rows.reader, b.rows.rowOf[vu])
	}
	if len(b.rows.needed) == 0 {
		return
	}
	fields, to := b.rows.reader.Read(b.rows.rowOf[vu]), b.requests.values.of(vu)
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
	if b.awaitsRow = !r.ready(b.Clock.Now) && !r.Ended; b.awaitsRow {
		if b.Clock.Now >= b.course.over {
			b.schedule.Stop(b.Clock.Now)
		}
		return schedule.Iteration{}, false
	}
	if r.Ended && r.plan.AtEnd != message.RowsFail {
		b.schedule.Stop(b.Clock.Now)
		return schedule.Iteration{}, false
	}
	p, ok := b.schedule.Next(b.Clock.Now)
	switch {
	case ok && r.Ended:
		b.course.fault = fmt.Errorf("feed %q has no more rows, %d were taken here: give it more, or write at_end = \"stop\"", r.plan.Name, r.taken)
		b.Halt.Cancelled.Store(true)
		b.schedule.Ended(p.VU, b.Clock.Now)
		return schedule.Iteration{}, false
	case ok:
		r.take(p.VU)
	}
	return p, ok
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
		b.sessions.finish(vu, true)
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

// counter is a counter of the plan in this process, with the calls that wait for a value.
type counter struct {
	leases.Leases
	plan    *message.CounterPlan
	waiting []*call
	taken   uint64
}

// counters are those of the plan. A process without a lessor counts by itself.
type counters struct {
	*parts
	all     []counter
	waiting int // calls
}

func newCounters(p *parts) counters {
	c := counters{parts: p, all: make([]counter, len(p.cfg.Counters))}
	for i := range c.all {
		n := &c.all[i]
		n.plan, n.Lessor, n.Of = &p.cfg.Counters[i], p.cfg.Lessor, uint32(i+1)
	}
	return c
}

// listen makes the lessor wake this loop when it has an answer.
func (s *counters) listen() {
	if s.cfg.Lessor != nil {
		s.cfg.Lessor.OnAnswer(func() { _ = s.Sockets.Poller.Wake() }) // it cannot fail while the poller is open
	}
}

// forget makes it stop that.
func (s *counters) forget() {
	if s.cfg.Lessor != nil {
		s.cfg.Lessor.OnAnswer(nil)
	}
}

// ready reports whether a counter has a value for the next call.
func (n *counter) ready(now int64) bool {
	if n.Lessor != nil {
		return n.Leases.Ready(now)
	}
	n.Ended = n.taken == n.plan.Most
	return !n.Ended
}

// take returns the next value, which is ready.
func (n *counter) take() uint64 {
	n.taken++
	if n.Lessor == nil {
		return n.taken - 1
	}
	return n.Take()
}

// next returns a value for a call, or suspends the call until there is one, or none will be.
func (s *counters) next(at int, co *call) (value uint64, ok bool) {
	n := &s.all[at]
	if len(n.waiting) == 0 && n.ready(s.Clock.Now) {
		return n.take(), true
	}
	if !n.Ended && s.functions.refusal(co) == "" {
		co.given, co.got = 0, false
		n.waiting = append(n.waiting, co)
		s.waiting++
		s.functions.park(co)
		if co.got {
			return co.given, true
		}
		if at := slices.Index(n.waiting, co); at >= 0 {
			n.waiting = slices.Delete(n.waiting, at, at+1)
			s.waiting--
		}
	}
	if n.Ended {
		s.end(n)
	}
	return 0, false
}

// serve gives values that have arrived to the calls that wait, in their order.
func (s *counters) serve() {
	if s.waiting == 0 {
		return
	}
	for i := range s.all {
		n := &s.all[i]
		served := 0
		for _, co := range n.waiting {
			if !n.ready(s.Clock.Now) && !n.Ended {
				break
			}
			served++
			if co.slot.Step == pool.None {
				continue // its time was over: it returns without a value
			}
			if !n.Ended {
				co.given, co.got = n.take(), true
			}
			s.functions.unpark(co)
		}
		n.waiting = slices.Delete(n.waiting, 0, served)
		s.waiting -= served
	}
}

// end ends the workflow, well or not, when a function wanted a value that there is not.
func (s *counters) end(n *counter) {
	switch {
	case n.plan.AtEnd != message.RowsFail:
		s.iterations.schedule.Stop(s.Clock.Now)
	case !s.Halt.Cancelled.Load():
		s.course.fault = fmt.Errorf("counter %q has no more values, %d were taken here: give it more with most, or write at_end = \"stop\"", n.plan.Name, n.taken)
		s.Halt.Cancelled.Store(true)
	}
}

// stats returns the figures of the counters whose values users took.
func (s *counters) stats() (all []message.CounterStats) {
	for i := range s.all {
		if n := &s.all[i]; n.taken > 0 {
			all = append(all, message.CounterStats{Name: n.plan.Name, Taken: n.taken})
		}
	}
	return all
}

// Gatherer reports who waits at barriers, and hears whom they let pass. of is the barrier's place in
// the plan, from 1. A Lessor's OnAnswer wakes the loop for it too.
type Gatherer interface {
	Report(of uint32, r barrier.Report)
	Answered(of uint32) barrier.Answer // the newest
}

// gate is a barrier of the plan in this process.
type gate struct {
	barrier.Waits
	plan    *message.BarrierPlan
	calls   map[uint64]*call // that wait, by the number of their wait
	next    uint64
	sent    int64 // when it reported last
	asked   uint64
	answer  barrier.Answer
	figures message.BarrierStats
}

// gates are the barriers of the plan.
type gates struct {
	*parts
	all []gate
}

// reportAgain is how soon a report follows another one that has no answer. leaveMax is how long a
// wait whose time is over waits for the manager's word on whether it was released.
const (
	reportAgain = int64(50 * time.Millisecond)
	leaveMax    = 1500 * time.Millisecond
)

func newGates(p *parts) gates {
	s := gates{parts: p, all: make([]gate, len(p.cfg.Barriers))}
	for i := range s.all {
		s.all[i].plan, s.all[i].calls = &p.cfg.Barriers[i], map[uint64]*call{}
	}
	return s
}

// wait suspends a call until all that a barrier wants have come, or its time is over.
func (s *gates) wait(at int, co *call) bool {
	g := &s.all[at]
	if s.cfg.Gatherer == nil {
		s.requests.debug.printf("barrier %s: one virtual user waits for no others\n", g.plan.Name)
		return true
	}
	if s.functions.refusal(co) != "" {
		return false
	}
	g.next++
	id := g.next
	g.calls[id] = co
	co.met = false
	g.Arrive(id)
	if s.functions.parkFor(co, g.plan.Timeout); g.calls[id] != nil && s.functions.refusal(co) == "" {
		g.Leave(id)
		s.functions.parkFor(co, leaveMax)
	}
	if g.calls[id] != nil {
		delete(g.calls, id)
		g.Abandon(id)
	}
	switch {
	case co.met:
		g.figures.Released++
	case s.functions.refusal(co) != "":
		g.figures.Ended++
	default:
		g.figures.TimedOut++
	}
	return co.met
}

// serve ends the waits that answers end, and reports those that have begun or are over.
func (s *gates) serve() {
	if s.cfg.Gatherer == nil {
		return
	}
	for i := range s.all {
		g := &s.all[i]
		if g.next == 0 {
			continue
		}
		if a := s.cfg.Gatherer.Answered(uint32(i + 1)); a != g.answer {
			g.answer = a
			for _, end := range g.Take(a) {
				if co := g.calls[end.ID]; co != nil {
					delete(g.calls, end.ID)
					if co.met = end.Released; co.slot.Step != pool.None {
						s.functions.unpark(co)
					}
				}
			}
		}
		if g.asked > g.answer.Number && s.Clock.Now-g.sent < reportAgain {
			continue // one after the other
		}
		if r, news := g.Waits.Report(); news {
			g.asked, g.sent = r.Number, s.Clock.Now
			s.cfg.Gatherer.Report(uint32(i+1), r)
		}
	}
}

// due returns when a report that waits for an answer may follow at the latest.
func (s *gates) due(until int64) int64 {
	for i := range s.all {
		if g := &s.all[i]; g.asked > g.answer.Number {
			until = min(until, g.sent+reportAgain)
		}
	}
	return until
}

// leave reports at the end of a run that no one waits any more: others count on no one here.
func (s *gates) leave() {
	if s.cfg.Gatherer == nil {
		return
	}
	for i := range s.all {
		if r, news := s.all[i].Waits.Report(); news {
			s.cfg.Gatherer.Report(uint32(i+1), r)
		}
	}
}

// stats returns the figures of the barriers at which users waited.
func (s *gates) stats() (all []message.BarrierStats) {
	for i := range s.all {
		if g := &s.all[i]; g.next > 0 {
			f := g.figures
			f.Name = g.plan.Name
			all = append(all, f)
		}
	}
	return all
}
