package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"hyperscale/core/client"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api/frames"
)

// question is one of the catalogue's, with what a watch has told so far.
type question struct {
	asked node.Message
	key   string // that submitted the job, of a cancellation
	put   func(ctx context.Context, m node.Message) error

	ends     uint32 // of workflows
	progress int    // of the newest status
	elapsed  time.Duration
	resumed  bool // the stream has shown nothing that is newer than the one before
}

func (c *Client) newQuestion(m node.Message) *question {
	q := &question{asked: m}
	switch m := m.(type) {
	case *message.JobWatch:
		q.ends = m.After
	case *message.JobCancel:
		q.key = c.keyOf(m.Job)
	}
	return q
}

// passes reports whether a rejection may pass within the time of a question. A full queue is the caller's to wait for,
// where it submits.
func (q *question) passes(code message.Code) bool {
	switch code {
	case message.CodeUnreachable, message.CodeQuorumUnavailable, message.CodeQuorumTimeout, message.CodeCircuitOpen, message.CodeNotMember,
		message.CodeDraining, message.CodeNotOwner:
		return true
	case message.CodeQueueFull, message.CodeOverloaded, message.CodeRateLimited:
		_, submits := q.asked.(*message.JobSubmit)
		return !submits
	}
	return false
}

// encode is the body of the next try. What is asked stays as it is: a try has a request of its own.
func (q *question) encode(request message.RequestID) ([]byte, error) {
	var m node.Message
	switch asked := q.asked.(type) {
	case *message.JobSubmit:
		c := *asked
		c.Request, m = request, &c
	case *message.JobWatch:
		c := *asked
		c.Request, c.After, m = request, q.ends, &c
	case *message.JobQuery:
		c := *asked
		c.Request, m = request, &c
	case *message.JobListQuery:
		c := *asked
		c.Request, m = request, &c
	case *message.JobCancel:
		c := *asked
		c.Request, m = request, &c
	case *message.DatacenterQuery:
		m = &message.DatacenterQuery{Request: request}
	case *message.StatusQuery:
		m = &message.StatusQuery{Request: request}
	case *message.ClusterQuery:
		m = &message.ClusterQuery{Request: request}
	default:
		return nil, &Error{Setup: true, text: fmt.Sprintf("the API takes no %s: ask a gate's own port with --gate", message.Name(q.asked.Kind()))}
	}
	b, err := frames.Append(nil, m)
	if err != nil {
		return nil, &Error{Setup: true, text: err.Error()}
	}
	return b, nil
}

// take passes the answers of a stream on. went: there was one.
func (q *question) take(ctx context.Context, r *frames.Reader) (went bool, err error) {
	q.resumed = q.progress > 0
	for {
		m, err := r.Next()
		if err != nil {
			return went, broken(err)
		}
		fresh, err := q.fresh(m)
		if err != nil {
			return went, err
		}
		if fresh {
			if err := q.put(ctx, m); err != nil {
				return went, err
			}
			went = true
		}
		if frames.Last(q.asked, m) {
			return true, nil
		}
	}
}

// fresh reports whether a watch has not shown an answer, nor a newer one, on an earlier stream.
func (q *question) fresh(m node.Message) (bool, error) {
	w, watches := q.asked.(*message.JobWatch)
	if !watches {
		return true, nil
	}
	switch m := m.(type) {
	case *message.JobStatus:
		if m.Job != w.Job {
			return false, mixed(m.Job)
		}
		p := client.Progress(m.State)
		if q.resumed && (p < q.progress || p == q.progress && m.Elapsed < q.elapsed) {
			return false, nil
		}
		q.resumed, q.progress, q.elapsed = false, p, m.Elapsed
	case *message.WorkflowEnded:
		switch {
		case m.Job != w.Job:
			return false, mixed(m.Job)
		case m.Number <= q.ends:
			return false, nil
		case m.Number != q.ends+1:
			return false, &failure{text: fmt.Sprintf("it tells end %d of a workflow after end %d", m.Number, q.ends), answered: true}
		}
		q.ends++
	case *message.JobResult:
		if m.Result.Job != w.Job {
			return false, mixed(m.Result.Job)
		}
	}
	return true, nil
}

func mixed(job message.JobID) error {
	return &failure{text: fmt.Sprintf("it answers for job %v, which was not asked for", job), answered: true}
}

// broken is what a stream says that ends before its last answer.
func broken(err error) error {
	var unknown *message.UnknownKindError
	switch {
	case errors.As(err, &unknown):
		return &Error{Setup: true, text: fmt.Sprintf("the API answers with a message of kind %d, which this version does not know: use the same version of hyperscale at both ends", unknown.Kind)}
	case errors.Is(err, message.ErrFrame):
		return &failure{text: "it answers with something else than frames of hyperscale (" + err.Error() + ")", answered: true}
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return &failure{text: "its answer broke off", answered: true}
	}
	return &failure{text: "its answer broke off (" + plain(err) + ")", answered: true}
}
