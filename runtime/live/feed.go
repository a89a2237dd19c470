package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"hyperscale/core/message"
)

// Bounds of streams.
const (
	streamsMost = 64
	sendEvery   = time.Second // two views of a stream are so far apart
	pulseEvery  = 10 * time.Second
	writeLimit  = 15 * time.Second
)

// Feed has the newest view of one job, and streams it to pages. A page that reads slowly gets fewer views,
// and delays no other one.
type Feed struct {
	mu      sync.Mutex
	fold    *Fold
	view    View
	made    uint64 // sequence of view
	changed chan struct{}
	streams int
	closed  chan struct{}
	once    sync.Once
}

// NewFeed begins without a status.
func NewFeed() *Feed {
	return &Feed{fold: NewFold(), changed: make(chan struct{}), closed: make(chan struct{})}
}

// Apply takes a status. It makes no view: a page that asks does.
func (f *Feed) Apply(s *message.JobStatus) { f.change(func() { f.fold.Apply(s, time.Now()) }) }

// Finish takes the end, and how far the sinks are. Streams get it, and end.
func (f *Feed) Finish(r *message.Result, sinks message.SinkReports) {
	f.change(func() { f.fold.Finish(r, sinks, time.Now()) })
}

// Close ends all streams.
func (f *Feed) Close() { f.once.Do(func() { close(f.closed) }) }

func (f *Feed) change(by func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	by()
	close(f.changed)
	f.changed = make(chan struct{})
}

// newest returns the newest view, and a channel that closes with the next status. ok is false before
// the first one.
func (f *Feed) newest() (v View, ok bool, changed <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fold.latest != nil && f.made != f.fold.sequence {
		view, _, err := f.fold.View()
		if err != nil {
			return View{}, false, f.changed, err
		}
		f.view = view
	}
	f.made = f.fold.sequence
	return f.view, f.made > 0, f.changed, nil
}

// Job is the id of the job; empty before the first status.
func (f *Feed) Job() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fold.latest == nil {
		return ""
	}
	return f.fold.latest.Job.String()
}

// enter takes a place among the streams.
func (f *Feed) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams >= streamsMost {
		return false
	}
	f.streams++
	return true
}

func (f *Feed) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams--
}

// ErrFull is the error of one page more than a job may have.
var ErrFull = fmt.Errorf("%d pages watch this job: close one of them", streamsMost)

// ServeHTTP is Stream, with its error as text.
func (f *Feed) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if err := f.Stream(w, in); err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// Stream sends views as server-sent events of kind view until the job ends. The first one is whole; later ones have the
// columns of the course that the stream lacks. The error is ErrFull, and nothing has been written then.
func (f *Feed) Stream(w http.ResponseWriter, in *http.Request) error {
	if !f.enter() {
		return ErrFull
	}
	defer f.leave()
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	s := stream{feed: f, to: w, out: out}
	if s.say("retry: 1000\n\n") != nil {
		return nil
	}
	pulse := time.NewTicker(pulseEvery)
	defer pulse.Stop()
	for last := false; ; {
		ended, changed, err := s.send()
		if err != nil || ended || last {
			return nil
		}
		var more bool
		if more, last = s.wait(in, changed, pulse.C); !more {
			return nil
		}
	}
}

// stream is one page's.
type stream struct {
	feed     *Feed
	to       http.ResponseWriter
	out      *http.ResponseController
	sent     Course
	sequence uint64
}

// say writes text, which a page that has gone does not hold up for long.
func (s *stream) say(text string) error {
	if err := s.out.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	if _, err := s.to.Write([]byte(text)); err != nil {
		return err
	}
	return s.out.Flush()
}

// send writes the newest view, if the page does not have it.
func (s *stream) send() (ended bool, changed <-chan struct{}, err error) {
	v, ok, changed, err := s.feed.newest()
	if err != nil || !ok || v.Sequence == s.sequence {
		return false, changed, nil //nolint:nilerr // a status that cannot be read is followed by another one
	}
	whole := v.Course
	v.Course = whole.since(&s.sent)
	b, err := json.Marshal(&v)
	if err != nil {
		return false, changed, err
	}
	if err := s.say(fmt.Sprintf("id: %d\nevent: view\ndata: %s\n\n", v.Sequence, b)); err != nil {
		return false, changed, err
	}
	s.sent, s.sequence = whole, v.Sequence
	return v.Ended, changed, nil
}

// wait returns with the next status, at the earliest after sendEvery. Without more the stream ends; last: what follows is the
// last view, if one can be made.
func (s *stream) wait(in *http.Request, changed <-chan struct{}, pulse <-chan time.Time) (more, last bool) {
	least := time.After(sendEvery)
	for changed != nil || least != nil {
		select {
		case <-changed:
			changed = nil
			if s.feed.ended() {
				return true, false
			}
		case <-least:
			least = nil
		case <-pulse:
			if s.say(": still here\n\n") != nil {
				return false, false
			}
		case <-s.feed.closed:
			return s.feed.ended(), true
		case <-in.Context().Done():
			return false, false
		}
	}
	return true, false
}

func (f *Feed) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fold.end != nil
}
