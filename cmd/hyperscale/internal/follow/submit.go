package follow

import (
	"context"
	"errors"
	"fmt"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Submit submits a job and returns its ID. Without a majority no gate answers for a while, and
// one may have the job: the first interrupt asks to cancel it, the second leaves at once.
func (f *Follower) Submit(ctx context.Context, s *session.Session, m *message.JobSubmit) (message.JobID, error) {
	type reply struct {
		answer node.Message
		job    message.JobID
		err    error
	}
	asking, done := context.WithCancel(ctx)
	defer done()
	named, replies := make(chan reply, 1), make(chan reply, 1)
	go func() {
		job, err := s.Job(asking, m.Key)
		named <- reply{nil, job, err}
	}()
	var job message.JobID // zero: nothing has been submitted
	for {
		select {
		case r := <-named:
			if r.err != nil {
				return job, fmt.Errorf("submit: %w", r.err)
			}
			job = r.job
			go func() {
				answer, err := s.Ask(asking, m)
				replies <- reply{answer, job, err}
			}()
		case r := <-replies:
			if r.err != nil {
				return message.JobID{}, fmt.Errorf("submit: %w", r.err)
			}
			ack, ok := r.answer.(*message.JobAck)
			if !ok {
				return message.JobID{}, session.Unexpected(r.answer)
			}
			if f.given != nil { // a gate that had not heard of the job knew nothing to cancel
				return ack.Job, f.cancel(ctx, s, ack.Job)
			}
			return ack.Job, nil
		case <-f.Signals.Asked:
			if job == (message.JobID{}) {
				return job, command.Exit(command.ExitInterrupted, errors.New("interrupted before the job was submitted"))
			}
			if f.given != nil {
				return message.JobID{}, command.Exit(command.ExitInterrupted, f.farewell(job, s))
			}
			f.Note("%s", f.stopping(job))
			if err := f.cancel(ctx, s, job); err != nil {
				return message.JobID{}, err
			}
		case <-f.given:
			return message.JobID{}, f.unended(job, s)
		}
	}
}

// Leave ends a command that only submitted a job.
func (f *Follower) Leave(job message.JobID) error {
	if f.given == nil {
		return nil
	}
	return command.Exit(command.ExitInterrupted, fmt.Errorf("job %v is asked to cancel", job))
}
