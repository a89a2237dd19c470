package follow

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// asked is a question without answers.
type asked struct{ closed bool }

func (a *asked) Answers() <-chan node.Message { return nil }
func (a *asked) Err() error                   { return nil }
func (a *asked) Close()                       { a.closed = true }

// TestALostResultIsWatchedAnew: where an answer says that the job has ended, and the watch brings no result, a new one does. It
// does not tell the ends of workflows again. A job that goes on keeps its watch.
func TestALostResultIsWatchedAnew(t *testing.T) {
	job, first := message.JobOf("a"), new(asked)
	var got []node.Message
	command := func(_ context.Context, m node.Message) (session.Asked, error) {
		got = append(got, m)
		return new(asked), nil
	}
	w := watch{Asked: first, job: job}
	w.took(&message.WorkflowEnded{Number: 1})
	w.took(&message.JobStatus{})
	w.took(&message.WorkflowEnded{Number: 2})
	for _, m := range []node.Message{&message.JobStatus{State: message.JobRunning}, &message.JobStatus{State: message.JobCompleting}, &message.Refused{}, nil} {
		require.NoError(t, w.again(t.Context(), m, command))
	}
	require.Empty(t, got)
	require.False(t, first.closed)
	require.NoError(t, w.again(t.Context(), &message.JobStatus{State: message.JobCompleted}, command))
	require.Equal(t, []node.Message{&message.JobWatch{Job: job, After: 2}}, got)
	require.True(t, first.closed)
	require.NotSame(t, first, w.Asked)
}
