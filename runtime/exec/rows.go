package exec

import (
	"sync"

	"hyperscale/core/load/barrier"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Rows asks the worker for rows of a unique feed, and for values of counters: of each one block
// after the other. It also reports who waits at barriers.
type Rows struct {
	send func(node.Message) error

	mu    sync.Mutex
	of    map[uint32]*asked
	waits map[uint32]barrier.Answer // the newest, by barrier
	wake  func()
}

// asked is what was asked for of a feed or a counter.
type asked struct {
	number uint64
	answer *message.ExecRowsLeased
}

// OnAnswer says whom to wake when an answer has come, from another goroutine.
func (r *Rows) OnAnswer(wake func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake = wake
}

// Ask asks for so many rows of the feed, or values of a counter, from 1; there must be no question
// for the same that is not answered.
func (r *Rows) Ask(of uint32, want uint64) {
	r.mu.Lock()
	if r.of == nil {
		r.of = map[uint32]*asked{}
	}
	if r.of[of] == nil {
		r.of[of] = &asked{}
	}
	r.of[of].number++
	m := &message.ExecRows{Ask: r.of[of].number, Want: want, Of: of}
	r.mu.Unlock()
	_ = r.send(m) // a worker that is gone ends this process
}

// Answer returns the answer, once, after it has arrived: from first up to first+count, or nothing
// if the feed or the counter is exhausted.
func (r *Rows) Answer(of uint32) (first, count uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.of[of]
	if q == nil || q.answer == nil {
		return 0, 0, false
	}
	a := q.answer
	q.answer = nil
	return a.First, a.Count, true
}

// leased stores the worker's answer.
func (r *Rows) leased(m *message.ExecRowsLeased) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.of[m.Of]
	if q == nil || m.Ask != q.number {
		return
	}
	q.answer = m
	if r.wake != nil {
		r.wake()
	}
}

// Report reports the waits at a barrier, from 1.
func (r *Rows) Report(of uint32, w barrier.Report) {
	_ = r.send(&message.ExecWaits{Of: of, Report: w.Number, Arrived: w.Arrived, Left: w.Left}) // a worker that is gone ends this process
}

// Answered returns the newest answer about a barrier; it is zero before the first.
func (r *Rows) Answered(of uint32) barrier.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waits[of]
}

// released stores the worker's answer.
func (r *Rows) released(m *message.ExecReleased) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waits == nil {
		r.waits = map[uint32]barrier.Answer{}
	}
	r.waits[m.Of] = barrier.Answer{Number: m.Report, Released: m.Released}
	if r.wake != nil {
		r.wake()
	}
}
