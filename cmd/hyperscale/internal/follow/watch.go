package follow

import (
	"context"

	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// watch is what the gates tell of a job, once.
type watch struct {
	session.Asked

	job  message.JobID
	ends uint32 // of workflows, that it has told
}

// took notes the ends of workflows: a watch that begins anew leaves them out.
func (w *watch) took(m node.Message) {
	if end, is := m.(*message.WorkflowEnded); is {
		w.ends = end.Number
	}
}

// begin watches a job.
func begin(ctx context.Context, job message.JobID, command func(context.Context, node.Message) (session.Asked, error)) (w watch, err error) {
	w.job = job
	w.Asked, err = command(ctx, &message.JobWatch{Job: job})
	return w, err
}

// again watches anew if an answer says that the job has ended: its result was on the way to a watch that is lost.
func (w *watch) again(ctx context.Context, answer node.Message, command func(context.Context, node.Message) (session.Asked, error)) error {
	if s, is := answer.(*message.JobStatus); !is || !s.State.Terminal() {
		return nil
	}
	anew, err := command(ctx, &message.JobWatch{Job: w.job, After: w.ends})
	if err != nil {
		return err
	}
	w.Close()
	w.Asked = anew
	return nil
}
