package api

import (
	"net/http"
	"sync"
	"time"

	"hyperscale/core/admission"
)

// shareOf is which part of a room one token has at most.
const shareOf = 4

// load counts what the server does now.
type load struct {
	requests, streams room
	orders, questions pace
}

// wait is how long a caller that finds no room waits.
func (l *load) wait() time.Duration { return max(l.requests.wait(), l.streams.wait()) }

// pace bounds what one token sends to the gates in a span. To them all tokens are one source: without this, one of them
// would send what they take of all.
type pace struct {
	most int
	what string
	span time.Duration

	mu    sync.Mutex
	began time.Time      // of the span
	sent  map[string]int // in it, by the token's name
}

// paceOf gives a token its part of what a gate takes of one source.
func paceOf(o admission.Operation, what string) pace {
	d := admission.Default()
	return pace{most: d.Limits[o] / shareOf, what: what, span: d.Span, sent: map[string]int{}}
}

// send counts what a token sends, or returns a Fault: it has sent as much as it may in this span.
func (p *pace) send(name string, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := now.Sub(p.began); d < 0 || d >= p.span {
		p.began = now
		clear(p.sent)
	}
	if p.sent[name] >= p.most {
		f := fault(http.StatusTooManyRequests, "token_pace", "the token %s has sent %d %s in %v, a token's bound: send fewer, or retry after the time given", name, p.most, p.what, p.span)
		f.RetryAfterSeconds = max(1, seconds(p.began.Add(p.span).Sub(now)))
		return f
	}
	p.sent[name]++
	return nil
}

// room is a number of places, of which one token has a quarter at most.
type room struct {
	most int
	what string // the places are for

	mu    sync.Mutex
	taken int
	of    map[string]int // by the token's name
}

func (r *room) wait() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return waitAt(r.taken, r.most)
}

// enter takes a place for a token, or returns a Fault without its time.
func (r *room) enter(name string) *Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.taken >= r.most:
		return fault(http.StatusServiceUnavailable, "busy", "this gate serves as many %s as it may: retry after the time given, or ask another gate", r.what)
	case r.of[name] >= r.most/shareOf:
		return fault(http.StatusTooManyRequests, "token_busy", "the token %s has %d %s here, a token's bound: end some, or retry after the time given", name, r.of[name], r.what)
	}
	r.taken++
	r.of[name]++
	return nil
}

func (r *room) leave(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken--
	if r.of[name]--; r.of[name] == 0 {
		delete(r.of, name)
	}
}

// enter takes a place for the call, and gives back the one that it had.
func (c *call) enter(r *room) error {
	if f := r.enter(c.who.Name); f != nil {
		f.RetryAfterSeconds = seconds(c.server.load.wait())
		return f
	}
	c.release()
	c.held = r
	c.w.long = r == &c.server.load.streams
	return nil
}

// release gives the call's place back.
func (c *call) release() {
	if c.held != nil {
		c.held.leave(c.who.Name)
		c.held = nil
	}
}

// linesMax is how many lines a second callers without a token write into the log.
const linesMax = 5

// lines counts them.
type lines struct {
	mu      sync.Mutex
	began   time.Time // of the second that is counted
	written int
	dropped int // since the last one that was written
}

// take says whether a line may be written, and how many were not since the last one.
func (l *lines) take(now time.Time) (dropped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := now.Sub(l.began); d < 0 || d >= time.Second {
		l.began, l.written = now, 0
	}
	if l.written == linesMax {
		l.dropped++
		return 0, false
	}
	dropped, l.dropped, l.written = l.dropped, 0, l.written+1
	return dropped, true
}
