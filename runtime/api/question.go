package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api/frames"
	"hyperscale/runtime/loop"
)

// asks reports whether POST /v1/ask takes a question: what the client commands ask, and nothing that changes nodes.
func asks(m message.Body) bool {
	switch m.(type) {
	case *message.JobSubmit, *message.JobWatch, *message.JobQuery, *message.JobListQuery, *message.JobCancel,
		*message.DatacenterQuery, *message.StatusQuery, *message.ClusterQuery:
		return true
	}
	return false
}

// question answers a question of the catalogue with the catalogue's answers, as they come.
func (c *call) question() error {
	q := asking{c}
	m, err := q.read()
	if err != nil {
		return err
	}
	if needs := message.Needs(m.Kind()); !c.who.Right.Has(needs) {
		return fault(http.StatusForbidden, "forbidden", "%s needs the role %v, and %s is a %v: use a token of that role", message.Name(m.Kind()), needs, c.who.Name, c.who.Right)
	}
	ctx, paced := c.r.Context(), &c.server.load.orders
	if c.quiet {
		paced = &c.server.load.questions
	}
	if err := paced.send(c.who.Name, time.Now()); err != nil {
		return err
	}
	var keys [2]string
	switch m := m.(type) {
	case *message.JobSubmit:
		keys[1] = m.Key
		err = q.own(m)
		keys[0] = m.Key
	case *message.JobCancel:
		err = q.cancel(m)
	case *message.JobWatch:
		err = c.enter(&c.server.load.streams)
	}
	if err == nil {
		err = fits(m)
	}
	if err != nil {
		return err
	}
	if _, watches := m.(*message.JobWatch); !watches {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, askMax)
		defer cancel()
	}
	asked, err := c.server.config.Client.Command(ctx, m)
	if err != nil {
		return c.server.silent(err)
	}
	defer asked.Close()
	p := passing{call: c, question: m, keys: keys, asked: asked, control: http.NewResponseController(c.w)}
	return p.run()
}

// asking is a question on its way to the gates.
type asking struct{ *call }

// read reads the question.
func (c asking) read() (message.Body, error) {
	c.order = "ask"
	if kind := c.r.Header.Get("Content-Type"); kind != frames.Type {
		return nil, fault(http.StatusUnsupportedMediaType, "bad_body", "Content-Type is %q: send a frame as %s, which `hyperscale submit --api` does", kind, frames.Type)
	}
	m, err := frames.NewReader(http.MaxBytesReader(c.w.Unwrap(), c.r.Body, frames.BodyMax+1), func() {}).Only()
	var unknown *message.UnknownKindError
	switch {
	case errors.As(err, &unknown):
		return nil, fault(http.StatusNotImplemented, "version", "the question is of kind %d, which this gate does not know: use the same version of hyperscale at both ends", unknown.Kind)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, message.ErrFrame):
		return nil, fault(http.StatusBadRequest, "bad_body", "the body is no frame: %v: use the same version of hyperscale at both ends", err)
	case err != nil:
		return nil, fault(http.StatusBadRequest, "bad_body", "the body cannot be read: %v: send it again", err)
	case !asks(m):
		return nil, fault(http.StatusForbidden, "forbidden", "%s is no question of the API: ask a gate's own port with --gate", message.Name(m.Kind()))
	}
	c.order = message.Name(m.Kind())
	c.quiet = message.Needs(m.Kind()) == node.RightView
	return m, nil
}

// own makes a submission the caller's: its key is one of the caller's.
func (c asking) own(m *message.JobSubmit) error {
	if len(m.Key) > keyMax {
		return fault(http.StatusBadRequest, "bad_key", "the key has %d bytes, %d is the bound: choose a shorter one", len(m.Key), keyMax)
	}
	if len(m.Program.Secrets) > 0 && c.server.config.Clear {
		return inClear()
	}
	m.Key = keyOf(c.who.Name, m.Key)
	c.job, c.order = message.JobOf(m.Key).String(), "key="+m.Key
	return nil
}

// cancel checks whose job it is, and says in the order who asked for it.
func (c asking) cancel(m *message.JobCancel) error {
	c.job, c.order = m.Job.String(), fmt.Sprintf("now=%t", m.Now)
	if len(m.Reason) > reasonMax {
		return fault(http.StatusBadRequest, "bad_query", "reason has %d bytes, %d is the bound: shorten it", len(m.Reason), reasonMax)
	}
	if err := c.owns(m.Job); err != nil {
		return err
	}
	m.Reason = cmp.Or(m.Reason, reasonOf(c.who.Name))
	return nil
}

// passing is the answers to one question on their way to the caller.
type passing struct {
	call     *call
	question message.Body
	keys     [2]string // of a submission: the gates' own, and the caller's
	asked    *loop.Session
	control  *http.ResponseController
	b        []byte
}

// run passes them until the last one. An end without one tells the caller to ask again.
func (p *passing) run() error {
	c := p.call
	_ = p.control.SetReadDeadline(time.Time{}) // the question has been read: a caller may wait as long as it likes
	h := c.w.Header()
	h.Set("Content-Type", frames.Type)
	h.Set("X-Accel-Buffering", "no")
	c.w.WriteHeader(http.StatusOK)
	if !p.send(frames.Beat()) {
		return nil
	}
	beats := time.NewTicker(frames.BeatEvery)
	defer beats.Stop()
	until := time.NewTimer(streamAge)
	defer until.Stop()
	for {
		select {
		case m, ok := <-p.asked.Answers():
			if !ok || !p.pass(m) || frames.Last(p.question, m) {
				return nil
			}
		case <-beats.C:
			if !p.send(frames.Beat()) {
				return nil
			}
		case <-until.C: // the caller comes back, with a token that still counts
			return nil
		case <-c.server.ending.Done():
			return nil
		}
	}
}

// pass writes an answer; false: the caller is gone, or does not read.
func (p *passing) pass(m node.Message) bool {
	if r, is := m.(*message.Refused); is {
		p.call.outcome = meanings(r.Code).name
		if p.keys[0] != "" {
			one := *r
			one.Detail = strings.ReplaceAll(r.Detail, p.keys[0], p.keys[1])
			m = &one
		}
	}
	var err error
	if p.b, err = frames.Append(p.b[:0], fitting(m, p.question)); err != nil {
		p.call.server.config.Logger.Error("the HTTP API cannot encode an answer", "error", err.Error())
		return false
	}
	return p.send(p.b)
}

func (p *passing) send(b []byte) bool {
	_ = p.control.SetWriteDeadline(time.Now().Add(readerMax)) // of any connection of net/http
	_, err := p.call.w.Write(b)
	return err == nil && p.control.Flush() == nil
}

// jobsMax is how many jobs a frame's list has at most: what a receiver of frames decodes.
const jobsMax = 4000

// fitting returns an answer that a frame can have: of a list of jobs that is too long, the newest ones. The caller asks for
// those after the last one that it has.
func fitting(m node.Message, question message.Body) node.Message {
	list, is := m.(*message.JobList)
	if !is {
		return m
	}
	if q, asks := question.(*message.JobListQuery); asks && q.After != (message.JobID{}) {
		rest := *list
		at := slices.IndexFunc(list.Jobs, func(j message.JobInfo) bool { return j.Job == q.After })
		rest.Jobs = list.Jobs[at+1:] // all, if the gates have forgotten that job meanwhile
		had := map[message.JobID]bool{}
		for i := range list.Jobs[:at+1] {
			had[list.Jobs[i].Job] = true
		}
		rest.Letters = slices.DeleteFunc(slices.Clone(list.Letters), func(l message.LetterInfo) bool { return had[l.Job] })
		list = &rest
	}
	keep := min(len(list.Jobs), jobsMax)
	for {
		cut := *list
		cut.Jobs, cut.More = list.Jobs[:keep], list.More || keep < len(list.Jobs)
		if keep < len(list.Jobs) {
			kept := map[message.JobID]bool{}
			for i := range cut.Jobs {
				kept[cut.Jobs[i].Job] = true
			}
			cut.Letters = slices.DeleteFunc(slices.Clone(list.Letters), func(l message.LetterInfo) bool { return !kept[l.Job] })
		}
		if keep == 0 || message.HeaderSize+cut.Size() <= message.FrameMax {
			return &cut
		}
		keep = keep * 9 / 10
	}
}
