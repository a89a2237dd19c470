package lab

import (
	"time"

	"hyperscale/core/node"
)

// The servers of all experiments.
const (
	pool     = 8                                      // workers of a server
	handling = 8 * time.Millisecond                   // mean time of a request, exponentially distributed
	capacity = int64(pool * (time.Second / handling)) // requests a second
	refusal  = handling / 100                         // work that a refusal costs, at the door or at dequeue
	backlog  = 4096                                   // requests that wait before any server drops
	tick     = 250 * time.Millisecond
	users    = 128 // user priorities of DAGOR
)

// control is an algorithm at one server. hear and ahead are what answers carry between servers.
type control interface {
	admit(now node.Instant, r *request) bool
	begin(now node.Instant, r *request) bool // at dequeue
	end(now node.Instant, r *request, waited, took time.Duration)
	answer(now node.Instant, r *request, rtt time.Duration, dropped bool) // of a request that it admitted
	tick(now node.Instant)
	ahead(now node.Instant, class node.Priority) outlook
	hear(now node.Instant, ahead outlook)
	lane(class node.Priority) node.Priority
}

// filter is a control whose callers know what it admits, and ask before they send.
type filter interface {
	passes(now node.Instant, r *request) bool
}

// server has workers and a queue in lanes. A refusal costs work, too: idle workers do it, or it
// delays what begins next.
type server struct {
	world   *world
	control control
	workers int
	busy    int
	lanes   [node.Priorities]queue
	waiting int
	owed    time.Duration // work of refusals
	since   node.Instant  // until when idle workers have worked it off
}

func (s *server) arrive(n int32) {
	r := &s.world.requests[n]
	now := s.world.now
	r.reached[r.stage] = now
	if s.waiting >= backlog || !s.control.admit(now, r) {
		s.owe()
		s.world.refuse(n)
		return
	}
	s.lanes[s.control.lane(r.class)].push(n)
	s.waiting++
	s.dispatch()
}

// dispatch gives waiting requests to idle workers.
func (s *server) dispatch() {
	for s.busy < s.workers && s.waiting > 0 {
		n := s.next()
		r := &s.world.requests[n]
		if !s.control.begin(s.world.now, r) {
			s.owe()
			s.world.answer(n, false)
			continue
		}
		s.workOff()
		took := r.works[r.stage] + s.owed
		r.spent += r.works[r.stage]
		r.works[r.stage] = took
		s.owed = 0
		s.busy++
		s.world.calendar.push(s.world.now.Add(took), ends, n)
	}
}

func (s *server) next() int32 {
	for i := range s.lanes {
		if l := &s.lanes[i]; l.count > 0 {
			s.waiting--
			return l.pop()
		}
	}
	node.Bug("lab: %d requests wait and all lanes are empty", s.waiting)
	return 0
}

func (s *server) end(n int32) {
	r := &s.world.requests[n]
	s.workOff()
	s.busy--
	took := r.works[r.stage]
	s.control.end(s.world.now, r, s.world.now.Sub(r.reached[r.stage])-took, took)
	s.world.forward(n)
	s.dispatch()
}

// owe adds the work of one refusal.
func (s *server) owe() {
	s.workOff()
	s.owed += s.world.refusal
}

// workOff lets idle workers refuse.
func (s *server) workOff() {
	idle := s.world.now.Sub(s.since) * time.Duration(max(0, s.workers-s.busy))
	s.owed, s.since = max(0, s.owed-idle), s.world.now
}

// queue is a ring of requests.
type queue struct {
	ring  []int32
	head  int
	count int
}

func (q *queue) push(n int32) {
	if q.count == len(q.ring) {
		ring := make([]int32, max(64, 2*len(q.ring)))
		for i := range q.count {
			ring[i] = q.ring[(q.head+i)%len(q.ring)]
		}
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.count)%len(q.ring)] = n
	q.count++
}

func (q *queue) pop() int32 {
	n := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.count--
	return n
}
