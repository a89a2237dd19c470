package exec

import (
	"sync"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Rows asks the worker for rows of a unique feed, one block after the other.
type Rows struct {
	send func(node.Message) error

	mu     sync.Mutex
	asked  uint64
	answer *message.ExecRowsLeased
	wake   func()
}

// OnAnswer says whom to wake when an answer has come, from another goroutine.
func (r *Rows) OnAnswer(wake func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake = wake
}

// Ask asks for so many rows; there must be no question that is not answered.
func (r *Rows) Ask(want uint64) {
	r.mu.Lock()
	r.asked++
	m := &message.ExecRows{Ask: r.asked, Want: want}
	r.mu.Unlock()
	_ = r.send(m) // a worker that is gone ends this process
}

// Answer returns the answer, once, after it has arrived: rows from first up to first+count, or
// no rows if the feed is exhausted.
func (r *Rows) Answer() (first, count uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.answer
	if a == nil {
		return 0, 0, false
	}
	r.answer = nil
	return a.First, a.Count, true
}

// leased stores the worker's answer.
func (r *Rows) leased(m *message.ExecRowsLeased) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Ask != r.asked {
		return
	}
	r.answer = m
	if r.wake != nil {
		r.wake()
	}
}
