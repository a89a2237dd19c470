package loop

import (
	"context"
	"fmt"

	"hyperscale/core/node"
)

// looksMax bounds the questions that wait for the machine's goroutine: a scrape asks one.
const looksMax = 4

// looks are the questions about a machine that wait for a moment between two steps.
type looks struct {
	asked chan *look
	ended chan struct{} // closed with the loop
}

type look struct {
	ask  func(now node.Instant)
	done chan struct{}
}

func newLooks() looks { return looks{asked: make(chan *look, looksMax), ended: make(chan struct{})} }

// Look runs a function on the goroutine of Run, between two steps, and waits for its end. The function
// reads the machine and changes nothing. After an error it has not run, or its caller must not read
// what it writes: it may still run.
func (l *Loop) Look(ctx context.Context, ask func(now node.Instant)) error {
	q := &look{ask: ask, done: make(chan struct{})}
	select {
	case l.looks.asked <- q:
	default:
		return fmt.Errorf("look at the machine: %d questions wait for it already", looksMax)
	}
	l.inbox.poke()
	select {
	case <-q.done:
		return nil
	case <-l.looks.ended:
		return ErrStopped
	case <-ctx.Done():
		return fmt.Errorf("look at the machine: %w", context.Cause(ctx))
	}
}

// answer lets a question that waits look at the machine.
func (q *looks) answer(now node.Instant) {
	select {
	case one := <-q.asked:
		one.ask(now)
		close(one.done)
	default:
	}
}
