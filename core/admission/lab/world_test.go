package lab

import (
	"fmt"
	"time"

	"hyperscale/core/admission"
	"hyperscale/core/node"
)

// hop is how long a message travels between two servers.
const hop = 250 * time.Microsecond

// stagesMax bounds the servers that a request visits.
const stagesMax = 4

// request is one call of a caller.
type request struct {
	stream   int32
	stage    int8
	class    node.Priority
	user     uint8 // a priority that a hash of the user draws, for DAGOR
	asked    node.Instant
	deadline node.Instant
	spent    time.Duration // work on it
	works    [stagesMax]time.Duration
	reached  [stagesMax]node.Instant
	place    admission.Place
}

// stream is a source of requests.
type stream struct {
	name   string
	class  node.Priority
	load   []change
	least  time.Duration // bounds of the deadlines
	most   time.Duration
	peak   int64 // of load
	rand   *node.Rand
	counts counts
}

// change is the rate of a stream from an instant on, in requests a second. Between two changes
// it follows a line.
type change struct {
	at   time.Duration
	rate int64
}

// steady is a load that rises for ramp and then stays: slow algorithms find it, too.
func steady(rate int64) []change { return []change{{0, rate / 20}, {ramp, rate}} }

// rateAt returns the stream's rate.
func (s *stream) rateAt(now node.Instant) int64 {
	t := time.Duration(now)
	for i := len(s.load) - 1; i >= 0; i-- {
		from := s.load[i]
		if t < from.at {
			continue
		}
		if i+1 == len(s.load) {
			return from.rate
		}
		to := s.load[i+1]
		return from.rate + (to.rate-from.rate)*int64((t-from.at)/time.Microsecond)/int64((to.at-from.at)/time.Microsecond)
	}
	return 0
}

// counts is what became of the requests of a stream, from measured on.
type counts struct {
	offered, good, late, refused int64
	latencies                    []time.Duration // of good ones
}

// world is a chain of servers and their callers.
type world struct {
	now      node.Instant
	calendar calendar
	servers  []*server
	path     []int // servers that each request visits
	streams  []*stream
	requests []request
	free     []int32
	from     node.Instant // figures count from here
	until    node.Instant
	handling time.Duration // mean work of a request at a server
	refusal  time.Duration // work that a refusal costs, at the door or at dequeue
	wasted   time.Duration // work on requests that were not answered in time
	answered func(r *request, good bool)
	halves   node.Instant // if not zero, when half of the workers stop
}

// newWorld returns servers of one algorithm. workers of a server set its capacity.
func newWorld(column *Column, workers []int, path []int) *world {
	w := &world{path: path, handling: handling, refusal: handling / 100}
	for i, n := range workers {
		s := &server{world: w, workers: n, control: column.new(n)}
		w.servers = append(w.servers, s)
		w.calendar.push(0, ticks, int32(i))
	}
	return w
}

// add adds a stream. Each stream draws from its own source of randomness, so that all
// algorithms face the same requests.
func (w *world) add(seed uint64, s *stream) {
	s.rand = node.NewRand(seed, node.ID(fmt.Sprintf("%s-%d", s.name, len(w.streams))), node.PurposeWorkload)
	for _, c := range s.load {
		s.peak = max(s.peak, c.rate)
	}
	w.calendar.push(node.Instant(exponential(s.rand, time.Second/time.Duration(s.peak))), arrives, int32(len(w.streams)))
	w.streams = append(w.streams, s)
}

// run plays until an instant, and counts from another.
func (w *world) run(from, until time.Duration) {
	w.from, w.until = node.Instant(from), node.Instant(until)
	for {
		e := w.calendar.pop()
		if e.at >= w.until {
			return
		}
		w.now = e.at
		switch e.kind {
		case arrives:
			w.arrive(e.n)
		case reaches:
			w.server(e.n).arrive(e.n)
		case ends:
			w.server(e.n).end(e.n)
		case ticks:
			w.halve()
			w.servers[e.n].control.tick(w.now)
			w.calendar.push(w.now.Add(tick), ticks, e.n)
		}
	}
}

// halve stops half of the workers of each server, once.
func (w *world) halve() {
	if w.halves == 0 || w.now < w.halves {
		return
	}
	w.halves = 0
	for _, s := range w.servers {
		s.workers /= 2
	}
}

func (w *world) server(n int32) *server { return w.servers[w.path[w.requests[n].stage]] }

// arrive begins a request and plans the next one of its stream.
func (w *world) arrive(i int32) {
	s := w.streams[i]
	w.calendar.push(w.now.Add(exponential(s.rand, time.Second/time.Duration(s.peak))), arrives, i)
	if rate := s.rateAt(w.now); rate < s.peak && !s.rand.Chance(uint64(rate), uint64(s.peak)) {
		return // of arrivals at the peak rate, the share that makes up the rate
	}
	n := w.allot()
	r := &w.requests[n]
	*r = request{stream: i, class: s.class, user: uint8(s.rand.Int(users)), asked: w.now, deadline: w.now.Add(s.rand.Duration(s.least, s.most))}
	for k := range w.path {
		r.works[k] = exponential(s.rand, w.handling)
	}
	if w.counting(r) {
		s.counts.offered++
	}
	w.server(n).arrive(n)
}

func (w *world) allot() int32 {
	if k := len(w.free); k > 0 {
		n := w.free[k-1]
		w.free = w.free[:k-1]
		return n
	}
	w.requests = append(w.requests, request{})
	return int32(len(w.requests) - 1)
}

func (w *world) counting(r *request) bool { return r.asked >= w.from }

// forward sends a request to its next server, or answers it.
func (w *world) forward(n int32) {
	r := &w.requests[n]
	if int(r.stage)+1 == len(w.path) {
		w.answer(n, true)
		return
	}
	if k := r.stage; w.path[k] == w.path[k+1] { // the caller has this answer, and calls again
		w.servers[w.path[k]].control.answer(w.now, r, w.now.Sub(r.reached[k]), false)
	}
	r.stage++
	if f, ok := w.server(n).control.(filter); ok && !f.passes(w.now, r) {
		w.servers[w.path[r.stage-1]].owe()
		w.refuse(n)
		return
	}
	w.calendar.push(w.now.Add(hop), reaches, n)
}

// answer ends a request: each server that admitted it hears.
func (w *world) answer(n int32, served bool) {
	r := &w.requests[n]
	w.report(r, int(r.stage), !served)
	w.tell(r)
	w.settle(r, served)
	w.free = append(w.free, n)
}

// refuse ends a request that the server of its stage did not admit.
func (w *world) refuse(n int32) {
	r := &w.requests[n]
	w.report(r, int(r.stage)-1, true)
	w.tell(r)
	w.settle(r, false)
	w.free = append(w.free, n)
}

// report answers the calls of a request that are open, up to a stage.
func (w *world) report(r *request, last int, dropped bool) {
	for k := last; k >= 0; k-- {
		if k < int(r.stage) && w.path[k] == w.path[k+1] {
			continue // forward has answered it
		}
		w.servers[w.path[k]].control.answer(w.now, r, w.now.Sub(r.reached[k]), dropped)
	}
}

// tell carries the outlook of each server to the one that called it. A server that calls
// another twice for a request adds both waits.
func (w *world) tell(r *request) {
	calls := time.Duration(1)
	for k := len(w.path) - 1; k > 0; k-- {
		if w.path[k] == w.path[k-1] {
			calls++
			continue
		}
		if k <= int(r.stage) {
			o := w.servers[w.path[k]].control.ahead(w.now, r.class)
			o.wait *= calls
			w.servers[w.path[k-1]].control.hear(w.now, o)
		}
		calls = 1
	}
}

// settle counts what became of a request.
func (w *world) settle(r *request, served bool) {
	good := served && w.now <= r.deadline
	if w.answered != nil {
		w.answered(r, good)
	}
	if w.now < w.from {
		return
	}
	if !good {
		w.wasted += r.spent
	}
	c := &w.streams[r.stream].counts
	switch {
	case good:
		c.good++
		c.latencies = append(c.latencies, w.now.Sub(r.asked))
	case served:
		c.late++
	default:
		c.refused++
	}
}
