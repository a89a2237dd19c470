package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/page"
	"hyperscale/runtime/report"
	"hyperscale/runtime/view"
)

// reasonMax bounds what a caller says of its order, in bytes.
const reasonMax = 256

// Cancelled is the state of a job whose cancellation a majority of the gates has.
type Cancelled struct {
	Job   string `json:"job"`
	State string `json:"state"` // CANCELLING, or the end that it had before
}

// cancel stops a job. A submitter shows that the job is its own by the Idempotency-Key that submitted it.
func (c *call) cancel() error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	q := c.r.URL.Query()
	c.order = fmt.Sprintf("now=%t", q.Get("now") == "true")
	reason := q.Get("reason")
	if len(reason) > reasonMax {
		return fault(http.StatusBadRequest, "bad_query", "reason has %d bytes, %d is the bound: shorten it", len(reason), reasonMax)
	}
	if err := c.owns(id); err != nil {
		return err
	}
	answer, err := c.server.ask(c.r.Context(), &message.JobQuery{Job: id})
	if err != nil {
		return err
	}
	was, ok := answer.(*message.JobStatus)
	if !ok {
		return unexpected(answer)
	}
	order := &message.JobCancel{Job: id, Now: q.Get("now") == "true", Reason: cmp.Or(reason, reasonOf(c.who.Name))}
	if answer, err = c.server.ask(c.r.Context(), order); err != nil {
		return err
	}
	ack, ok := answer.(*message.JobCancelAck)
	if !ok {
		return unexpected(answer)
	}
	status := http.StatusAccepted
	if was.State.Terminal() || was.State == message.JobCancelling && !order.Now {
		status = http.StatusOK
	}
	return c.answer(status, Cancelled{id.String(), ack.State.String()})
}

// owns rejects a submitter that does not show that a job is its own.
func (c *call) owns(id message.JobID) error {
	if c.operator() || c.named() == id {
		return nil
	}
	return fault(http.StatusForbidden, "forbidden", "a submitter cancels its own jobs: send the %s (--key) that submitted job %v, or use the token of an operator", KeyHeader, id)
}

// named is the caller's job of the Idempotency-Key that the request has.
func (c *call) named() message.JobID {
	return message.JobOf(keyOf(c.who.Name, c.r.Header.Get(KeyHeader)))
}

// reasonOf is that of an order without one.
func reasonOf(caller string) string { return "cancelled over HTTP by " + caller }

// result answers the result file of a job that has ended, or its page.
func (c *call) result() error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	format := cmp.Or(c.r.URL.Query().Get("format"), "json")
	if !slices.Contains([]string{"json", "html"}, format) {
		return fault(http.StatusBadRequest, "bad_query", "format = %q is none: write json or html", format)
	}
	r, err := c.ended(id)
	if err != nil {
		return err
	}
	built, err := report.Build(&r.Result, time.Time{}) // gates have no common clock
	if err != nil {
		return err
	}
	built.Sinks = report.SinksOf(r.Sinks.List)
	b, kind := []byte(nil), "application/json"
	if format == "html" {
		kind = "text/html; charset=utf-8"
		b, err = page.Render(built)
	} else {
		b, err = built.Encode()
	}
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", kind)
	c.due()
	_, _ = c.w.Write(b) // the caller has hung up
	return nil
}

// ended waits for the result of a job, unless the job still runs.
func (c *call) ended(id message.JobID) (*message.JobResult, error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), askMax)
	defer cancel()
	watch, err := c.server.config.Client.Command(ctx, &message.JobWatch{Job: id})
	if err != nil {
		return nil, c.server.silent(err)
	}
	defer watch.Close()
	for m := range watch.Answers() {
		switch m := m.(type) {
		case *message.JobStatus:
			if !m.State.Terminal() {
				return nil, fault(http.StatusConflict, "running", "job %v is %v and has no result yet: GET /v1/jobs/%v/events tells when it ends", id, m.State, id)
			}
		case *message.JobResult:
			return m, nil
		case *message.Refused:
			return nil, c.server.refused(m)
		}
	}
	return nil, c.server.silent(watch.Err())
}

// Drained says who obeys an order to drain.
type Drained struct {
	Node string `json:"node"`
	Via  string `json:"via"` // the node that passes the order on; empty: this gate obeyed it
	Undo bool   `json:"undo"`
}

// drain orders a node to take no new work, or to take work again.
func (c *call) drain() error {
	undo := c.r.URL.Query().Get("undo") == "true"
	c.order = fmt.Sprintf("undo=%t", undo)
	answer, err := c.server.ask(c.r.Context(), &message.DrainRequest{Node: c.r.PathValue("id"), Undo: undo})
	if err != nil {
		return err
	}
	ack, ok := answer.(*message.DrainAck)
	if !ok {
		return unexpected(answer)
	}
	return c.answer(http.StatusAccepted, Drained{ack.Node, ack.Via, undo})
}

// letters lists what replay takes.
func (c *call) letters() error {
	list, err := shared(c.r.Context(), c.server, &c.server.lists.dead, &message.JobListQuery{Dead: true})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, view.LettersOf(list, 0, time.Now()))
}

// replay submits a dead letter once more.
func (c *call) replay() error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	number, err := numberOf(c.r.URL.Query().Get("number"), "number", 1, 1_000_000)
	if err != nil {
		return err
	}
	c.order = fmt.Sprintf("number=%d", number)
	answer, err := c.server.ask(c.r.Context(), &message.JobReplay{Job: id, Number: uint32(number)})
	if err != nil {
		return err
	}
	ack, ok := answer.(*message.JobAck)
	if !ok {
		return unexpected(answer)
	}
	return c.answer(http.StatusAccepted, Submitted{Job: ack.Job.String(), Key: message.ReplayKey(id, uint32(number)), Duplicate: ack.Duplicate, Warnings: []Mistake{}})
}
