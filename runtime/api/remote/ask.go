package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// The client notes what it waits for from this wait on, and so often.
const (
	noteFrom = time.Second
	noteRest = 4 * time.Second
)

// Asked is a question and its answers.
type Asked struct {
	client  *Client
	answers chan node.Message
	cancel  context.CancelCauseFunc
	watch   bool // it has no deadline
	refused *message.Refused

	mu  sync.Mutex
	err error
}

// Answers is closed when no more answers can arrive; Err then says why.
func (a *Asked) Answers() <-chan node.Message { return a.answers }

// Err is nil before the end, after the last answer, and after Close.
func (a *Asked) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// Close ends the question; further answers go nowhere.
func (a *Asked) Close() { a.cancel(nil) }

func (a *Asked) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !errors.Is(err, context.Canceled) {
		a.err = err
	}
}

func (c *Client) newAsked(cancel context.CancelCauseFunc, m node.Message) *Asked {
	_, watch := m.(*message.JobWatch)
	return &Asked{client: c, answers: make(chan node.Message, answersRoom), cancel: cancel, watch: watch}
}

// Command asks. The question lives until its last answer, until it is closed, or ctx ends.
func (c *Client) Command(ctx context.Context, m node.Message) *Asked {
	q := c.newQuestion(m)
	ctx, cancel := context.WithCancelCause(ctx)
	a := c.newAsked(cancel, m)
	q.put = func(ctx context.Context, m node.Message) error { return a.put(ctx, q, m) }
	go func() {
		defer cancel(nil)
		defer close(a.answers)
		a.run(ctx, q)
	}()
	return a
}

// put passes an answer on. A rejection that passes is none: the question is asked again.
func (a *Asked) put(ctx context.Context, q *question, m node.Message) error {
	if r, is := m.(*message.Refused); is && !a.watch && q.passes(r.Code) {
		a.refused = r
		return &failure{text: r.Code.String(), after: r.RetryAfter, answered: true}
	}
	select {
	case a.answers <- m:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// exchange is what a try sends, and what it does with the answer.
type exchange interface {
	try(ctx context.Context, c *Client, base string) error
}

// state is what the tries of one question have found out.
type state struct {
	began   time.Time
	said    map[string]string    // by each gate, last
	until   map[string]time.Time // a gate asked to wait
	reached bool                 // some gate has answered
	round   int
	noted   time.Time // of the last note
}

// run tries gates until one has answered.
func (a *Asked) run(ctx context.Context, x exchange) {
	s := state{began: time.Now(), said: map[string]string{}, until: map[string]time.Time{}}
	for ; ; s.round++ {
		if a.around(ctx, x, &s) {
			return
		}
		wait := max(s.rest(a.client.gates), a.client.pause(s.round))
		if late := a.late(wait, &s); late != nil {
			a.give(ctx, late)
			return
		}
		if wait.Round(100*time.Millisecond) >= noteFrom && time.Since(s.noted) >= noteRest {
			s.noted = time.Now()
			a.client.config.Note("%s: the next try is in %v", a.client.saying(s.said), wait.Round(100*time.Millisecond))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			a.fail(context.Cause(ctx))
			return
		}
	}
}

// around tries each gate once, but for those that asked to wait. over: the question has ended.
func (a *Asked) around(ctx context.Context, x exchange, s *state) (over bool) {
	first := a.client.first()
	for i := range a.client.gates {
		at := (first + i) % len(a.client.gates)
		base := a.client.gates[at]
		if time.Now().Before(s.until[base]) {
			continue
		}
		err := a.once(ctx, x, base, s)
		var f *failure
		switch {
		case err == nil:
			a.client.prefer(at)
			return true
		case ctx.Err() != nil:
			a.fail(context.Cause(ctx))
			return true
		case !errors.As(err, &f):
			a.fail(err)
			return true
		}
		a.client.prefer(at + 1)
		s.said[base], s.until[base], s.reached = f.text, time.Now().Add(f.after), s.reached || f.answered
		if f.went {
			s.round = -1
		}
	}
	return false
}

// once tries one gate, within the time that the question has.
func (a *Asked) once(ctx context.Context, x exchange, base string, s *state) error {
	if !a.watch {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, s.began.Add(a.client.config.Answer))
		defer cancel()
	}
	return x.try(ctx, a.client, base)
}

// rest is how long no gate wants to be asked.
func (s *state) rest(gates []string) time.Duration {
	least := time.Until(s.until[gates[0]])
	for _, base := range gates[1:] {
		least = min(least, time.Until(s.until[base]))
	}
	return least
}

// late returns why a question ends before its next try; nil: it does not. A watch never does: its caller asks for the
// state of the job meanwhile, and that question ends.
func (a *Asked) late(wait time.Duration, s *state) error {
	most := a.client.config.Answer
	if !s.reached {
		most = a.client.config.Reach
	}
	if a.watch || time.Since(s.began)+wait < most {
		return nil
	}
	return &Error{text: fmt.Sprintf("no answer within %v: %s", most, a.client.saying(s.said))}
}

// give ends a question by the rejection that passes, if there was one.
func (a *Asked) give(ctx context.Context, late error) {
	if a.refused == nil {
		a.fail(late)
		return
	}
	select {
	case a.answers <- a.refused:
	case <-ctx.Done():
		a.fail(context.Cause(ctx))
	}
}

// pause draws the wait behind a round.
func (c *Client) pause(round int) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits.Next(c.random, round)
}

// saying is what each gate said last.
func (c *Client) saying(said map[string]string) string {
	var all []string
	for _, base := range c.gates {
		if what, has := said[base]; has {
			all = append(all, "API "+base+": "+what)
		}
	}
	return strings.Join(all, "; ")
}
