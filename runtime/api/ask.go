package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/loop"
)

// askMax bounds the wait for an answer of the gates.
const askMax = 25 * time.Second

// ask sends a question and returns its answer, or a Fault.
func (s *Server) ask(ctx context.Context, m node.Message) (node.Message, error) {
	if err := fits(m); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askMax)
	defer cancel()
	asked, err := s.config.Client.Command(ctx, m)
	if err != nil {
		return nil, s.silent(err)
	}
	defer asked.Close()
	answer, ok := <-asked.Answers()
	if !ok {
		return nil, s.silent(asked.Err())
	}
	if r, is := answer.(*message.Refused); is {
		return nil, s.refused(r)
	}
	return answer, nil
}

// fits rejects a submission that no frame takes to a gate. Sent, it would break the stream that all callers of this gate
// share, and with each try another one.
func fits(m node.Message) error {
	submit, ok := m.(*message.JobSubmit)
	if !ok {
		return nil // nothing else has lists or texts of a caller without a bound
	}
	one := *submit
	one.Request = message.RequestID{Incarnation: 1, Counter: 1} // as the client will
	b, err := message.Append(nil, &one)
	if err != nil {
		return fault(http.StatusRequestEntityTooLarge, "too_large", "the submission is too large for a gate: %v: send smaller files and shorter names", err)
	}
	if _, err := message.Decode(b); err != nil {
		return fault(http.StatusUnprocessableEntity, "bad_value", "no gate takes the submission: %v: give shorter texts and lists", err)
	}
	return nil
}

// silent explains that no answer can arrive any more.
func (s *Server) silent(err error) *Fault {
	f := fault(http.StatusServiceUnavailable, "unreachable", "no gate answered in time: retry after the time given")
	if errors.Is(err, loop.ErrBusy) {
		f = fault(http.StatusServiceUnavailable, "busy", "this gate has more calls than it can pass on: retry after the time given")
	}
	f.RetryAfterSeconds = seconds(s.load.wait())
	return f
}

// unexpected is an answer that fits no question of ours.
func unexpected(m node.Message) error {
	return fmt.Errorf("the gate answered with a %s: use the same version of hyperscale on all gates", message.Name(m.Kind()))
}

// freshFor is for how long an answer about all jobs or all nodes serves further callers, and a failure, too.
const freshFor = time.Second

// recent is a question of the gates that many callers share: one is out at a time.
type recent[T any] struct {
	mu   sync.Mutex
	last *asked[T]
}

// asked is a question, and what became of it once done is closed.
type asked[T any] struct {
	done         chan struct{}
	began, ended time.Time
	has          T
	err          error
}

// stale says that the answer is too old to serve another caller.
func (a *asked[T]) stale(fresh time.Duration) bool {
	select {
	case <-a.done:
		return time.Since(a.ended) >= fresh
	default:
		return false
	}
}

// get returns an answer or a failure that is young enough, or asks. Callers that come meanwhile wait for that one, until their
// ctx ends.
func (l *recent[T]) get(ctx context.Context, fresh time.Duration, ask func() (T, error)) (*asked[T], error) {
	l.mu.Lock()
	a := l.last
	if a == nil || a.stale(fresh) {
		a = &asked[T]{done: make(chan struct{}), began: time.Now()}
		l.last = a
		go func() {
			defer close(a.done)
			a.has, a.err = ask()
			a.ended = time.Now()
		}()
	}
	l.mu.Unlock()
	select {
	case <-a.done:
		return a, nil
	case <-ctx.Done():
		return nil, fault(http.StatusServiceUnavailable, "gone", "the caller has hung up")
	}
}

// lists are the answers that callers share.
type lists struct {
	jobs    recent[*message.JobList]
	dead    recent[*message.JobList]
	cluster recent[*message.ClusterStatus]
	nodes   recent[*message.StatusList]
	places  recent[*message.DatacenterList]
}

// shared asks a question whose answer callers share. It belongs to no caller: one that hangs up takes it from no other.
func shared[T node.Message](ctx context.Context, s *Server, of *recent[T], m node.Message) (none T, err error) {
	a, err := of.get(ctx, freshFor, func() (none T, err error) {
		answer, err := s.ask(s.ending, m)
		if err != nil {
			return none, err
		}
		if a, ok := answer.(T); ok {
			return a, nil
		}
		return none, unexpected(answer)
	})
	if err != nil {
		return none, err
	}
	return a.has, a.err
}
