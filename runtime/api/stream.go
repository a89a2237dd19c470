package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of a stream of events.
const (
	firstWait  = 10 * time.Second       // for the first news of a job
	quietMax   = 10 * time.Second       // then a comment shows that the stream lives
	statusRest = 250 * time.Millisecond // between two statuses
	queueMax   = 64 << 10               // bytes that are written at a time
	readerMax  = 30 * time.Second       // for a reader to take them
	streamAge  = 30 * time.Minute       // a reader comes back then, with a token that still counts
	reconnect  = 1000                   // milliseconds: how long EventSource waits before it comes back
)

// finished is the id of the last event: a reader that brings it has all.
const finished = "end"

// reader is how far one stream has got.
type reader struct {
	ends   int           // of workflows
	at     time.Duration // of the last window
	noted  int
	status uint64
	alerts []string
	fresh  bool // it has no place of an earlier stream
	out    bytes.Buffer
}

// place is the id of what the reader has got: it means the same at each gate.
func (r *reader) place() string { return fmt.Sprintf("%d-%d", r.ends, int64(r.at)) }

// readerOf begins behind the last event of another stream.
func readerOf(last string) (r reader) {
	ends, at, ok := strings.Cut(last, "-")
	n, bad := strconv.ParseUint(ends, 10, 31)
	ns, worse := strconv.ParseInt(at, 10, 64)
	if !ok || bad != nil || worse != nil || ns < 0 || n > endsMax {
		return reader{fresh: true}
	}
	return reader{ends: int(n), at: time.Duration(ns)}
}

// write adds an event, with the place that the reader has with it.
func (r *reader) write(name, id string, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	fmt.Fprintf(&r.out, "event: %s\nid: %s\ndata: %s\n", name, id, b) // b ends its own line
	return nil
}

// full says that the rest waits until the reader has taken what there is.
func (r *reader) full() bool { return r.out.Len() >= queueMax }

// take adds what the reader has not told yet, up to a bound. more: something is left. end: nothing follows.
func (r *reader) take(n *news, statusDue bool) (more, end bool, err error) {
	for i := range n.points {
		p := &n.points[i]
		if p.At-p.Took < r.at { // the reader has it, or a part of it
			continue
		}
		if r.full() {
			return true, false, nil
		}
		r.at = p.At
		if err := r.write("window", r.place(), windowOf(p)); err != nil {
			return false, false, err
		}
	}
	if done, err := r.takeNotes(n); err != nil || !done {
		return !done, false, err
	}
	if n.status != nil && n.version != r.status && (statusDue || n.result != nil) {
		r.status = n.version
		if err := r.write("status", r.place(), n.event()); err != nil {
			return false, false, err
		}
	}
	if n.result == nil {
		return false, false, nil
	}
	return false, true, r.write("result", finished, resultOf(n.result, n.forgotten))
}

// takeNotes adds ends, notes and alerts; done: all of them.
func (r *reader) takeNotes(n *news) (done bool, err error) {
	first := n.noted - len(n.notes)
	if !r.fresh && r.status == 0 && n.status != nil && r.noted == 0 {
		r.noted = n.noted // the earlier stream told them, or the status shows them
	}
	for r.noted = max(r.noted, first); r.noted < n.noted; r.noted++ {
		if r.full() {
			return false, nil
		}
		if err := r.write("event", r.place(), n.notes[r.noted-first]); err != nil {
			return false, err
		}
	}
	for r.ends < len(n.ends) {
		if r.full() {
			return false, nil
		}
		r.ends++
		if err := r.write("event", r.place(), n.ends[r.ends-1]); err != nil {
			return false, err
		}
	}
	if n.cluster != nil {
		return true, r.takeAlerts(n.cluster.Warnings)
	}
	return true, nil
}

func (r *reader) takeAlerts(now []string) error {
	for _, a := range r.alerts {
		if !slices.Contains(now, a) {
			if err := r.write("alert", r.place(), AlertEvent{a, false}); err != nil {
				return err
			}
		}
	}
	for _, a := range now {
		if !slices.Contains(r.alerts, a) {
			if err := r.write("alert", r.place(), AlertEvent{a, true}); err != nil {
				return err
			}
		}
	}
	r.alerts = now
	return nil
}

// events streams what happens to a job, until it ends or the reader leaves.
func (c *call) events() error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	last := c.r.Header.Get("Last-Event-ID")
	if last == finished {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err := c.enter(&c.server.load.streams); err != nil {
		return err
	}
	feed := c.server.feeds.follow(id)
	defer c.server.feeds.leave(feed)
	if err := c.first(feed); err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	s := stream{call: c, feed: feed, reader: readerOf(last), control: http.NewResponseController(c.w)}
	s.out.WriteString(fmt.Sprintf("retry: %d\n\n", reconnect))
	s.run()
	return nil
}

// first waits for the first news: a job that is not known is an answer of its own.
func (c *call) first(f *feed) error {
	late := time.NewTimer(firstWait)
	defer late.Stop()
	for {
		n, changed := f.look()
		switch {
		case n.failure != nil && n.status == nil:
			return n.failure
		case n.status != nil || n.result != nil:
			return nil
		}
		select {
		case <-changed:
		case <-late.C:
			return nil // the gates may come back: the stream lives until then
		case <-c.r.Context().Done():
			return fault(http.StatusServiceUnavailable, "gone", "the caller has hung up")
		}
	}
}

// stream is one reader of a feed, on a connection.
type stream struct {
	reader
	call    *call
	feed    *feed
	control *http.ResponseController
	told    time.Time // of the last status
}

func (s *stream) run() {
	until := time.NewTimer(streamAge)
	defer until.Stop()
	for {
		n, changed := s.feed.look()
		more, end, err := s.take(&n, time.Since(s.told) >= statusRest)
		if s.status == n.version && n.version != 0 && s.out.Len() > 0 {
			s.told = time.Now()
		}
		if err != nil || !s.send() || end || n.failure != nil && !more {
			return
		}
		if more {
			continue
		}
		if !s.wait(&n, changed, until.C) {
			return
		}
	}
}

// wait returns when there may be something to tell; false: the stream ends.
func (s *stream) wait(n *news, changed <-chan struct{}, until <-chan time.Time) bool {
	pause := quietMax
	if n.version != s.status {
		pause = statusRest
	}
	quiet := time.NewTimer(pause)
	defer quiet.Stop()
	select {
	case <-changed:
	case <-quiet.C:
		if pause == quietMax {
			s.out.WriteString(": the stream lives\n\n")
		}
	case <-until:
		return false
	case <-s.call.r.Context().Done():
		return false
	case <-s.call.server.ending.Done():
		return false
	}
	return true
}

// send writes what there is; false: the reader is gone, or does not read.
func (s *stream) send() bool {
	if s.out.Len() == 0 {
		return true
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(readerMax)) // of any connection of net/http
	_, err := s.call.w.Write(s.out.Bytes())
	s.out.Reset()
	return err == nil && s.control.Flush() == nil
}

// page streams views of a job to a page, until the job ends or the page leaves.
func (c *call) page() error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	if err := c.enter(&c.server.load.streams); err != nil {
		return err
	}
	feed := c.server.feeds.follow(id)
	defer c.server.feeds.leave(feed)
	if err := c.first(feed); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), streamAge)
	defer cancel()
	if err := feed.page.Stream(c.w, c.r.WithContext(ctx)); err != nil {
		f := fault(http.StatusServiceUnavailable, "busy", "%v", err)
		f.RetryAfterSeconds = seconds(c.server.load.wait())
		return f
	}
	return nil
}
