package follow

import (
	"context"
	"errors"
	"time"

	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// quiet tells a job that waits, and has no news, from gates that are gone: it asks for the job's
// state after each time without news. An answer is news, so a command gives up on silence, never
// on a queue.
type quiet struct {
	every time.Duration
	last  time.Time // news
	timer *time.Timer
	asked session.Asked // nil while no question is open
}

// heard notes news of the job.
func (q *quiet) heard() {
	q.last = time.Now()
	if q.timer != nil {
		q.timer.Reset(q.every)
	}
}

func (q *quiet) since() time.Duration { return time.Since(q.last) }

// due ends after a time without news, while no question is open.
func (q *quiet) due() <-chan time.Time {
	if q.timer == nil {
		q.last, q.timer = time.Now(), time.NewTimer(q.every)
	}
	if q.asked != nil {
		return nil
	}
	return q.timer.C
}

// ask asks the gates; the client asks one after the other, within a bound.
func (q *quiet) ask(ctx context.Context, s *session.Session, job message.JobID) (err error) {
	q.asked, err = s.Command(ctx, &message.JobQuery{Job: job})
	return err
}

// answers are those to the open question; none if there is none.
func (q *quiet) answers() <-chan node.Message {
	if q.asked == nil {
		return nil
	}
	return q.asked.Answers()
}

// answered ends the question. It returns why the gates are gone, once they are.
func (q *quiet) answered(ok bool, m node.Message) error {
	err := q.asked.Err()
	q.asked.Close()
	q.asked = nil
	q.timer.Reset(q.every)
	if err = q.judge(ok, m, err); q.since() < session.NewsMax {
		return nil
	}
	return err
}

// judge returns why no gate knows the job's state, if none does; else this is news.
func (q *quiet) judge(ok bool, m node.Message, err error) error {
	if !ok {
		if err == nil {
			err = errors.New("the client stopped")
		}
		return err
	}
	if refused, no := m.(*message.Refused); no {
		return session.Refusal(refused)
	}
	q.heard()
	return nil
}

func (q *quiet) stop() {
	if q.asked != nil {
		q.asked.Close()
	}
	if q.timer != nil {
		q.timer.Stop()
	}
}
