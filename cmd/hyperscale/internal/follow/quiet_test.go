package follow

import (
	"errors"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestSilenceIsNoQueue: a job that waits has no news, and its state is an answer; gates that do
// not answer, or do not know the job, are silence.
func TestSilenceIsNoQueue(t *testing.T) {
	lost := errors.New("no answer")
	for _, tc := range []struct {
		name   string
		ok     bool
		answer node.Message
		err    error
		heard  bool
	}{
		{"it is queued", true, &message.JobStatus{State: message.JobQueued, Position: 3}, nil, true},
		{"no gate answers", false, nil, lost, false},
		{"the client ended", false, nil, nil, false},
		{"no majority", true, &message.Refused{Code: message.CodeQuorumUnavailable}, nil, false},
	} {
		q := quiet{every: time.Hour, last: time.Now().Add(-2 * session.NewsMax)}
		err := q.judge(tc.ok, tc.answer, tc.err)
		if (err == nil) != tc.heard || (q.since() < session.NewsMax) != tc.heard {
			t.Errorf("%s: error %v, %v since it was heard; heard %v", tc.name, err, q.since(), tc.heard)
		}
	}
	q := quiet{every: time.Hour}
	defer q.stop()
	if q.due() == nil || q.answers() != nil {
		t.Error("no question is open, and none is due")
	}
}
