package quic

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hyperscale/runtime/protocol/http3"
	"hyperscale/runtime/protocol/island"
)

func begin() *Link {
	l := &Link{streams: map[uint64]*request{}}
	l.queue.begin(island.New(func() {}).Shore(1))
	return l
}

// kinds are what Take hands over, by stream.
func (l *Link) kinds() (got []string, end error) {
	end = l.Take(func(e http3.Event) error {
		got = append(got, fmt.Sprint(e.Stream, ":", e.Kind))
		return nil
	})
	return got, end
}

// QUIC-1: the loop posts although more waits for it than readers may add.
func TestTheLoopPosts(t *testing.T) {
	l := begin()
	l.queue.post(event{kind: http3.Data}, make([]byte, unreadMost+1))
	posted := make(chan bool)
	go func() { posted <- l.queue.post(event{kind: http3.Stopped}, nil) }()
	select {
	case <-posted:
	case <-time.After(10 * time.Second):
		t.Error("an event without bytes waits for the loop")
		l.queue.shut()
		<-posted
	}
}

// QUIC-2: a request that the library has counts ahead of its response, and once, whichever goroutine is first.
func TestWrittenIsAheadOfTheResponse(t *testing.T) {
	for name, c := range map[string]struct {
		post []http3.EventKind
		want []http3.EventKind
	}{
		"the response is first": {[]http3.EventKind{http3.Fin, http3.Written}, []http3.EventKind{http3.Written, http3.Fin}},
		"the request is first":  {[]http3.EventKind{http3.Written, http3.Data, http3.Fin}, []http3.EventKind{http3.Written, http3.Data, http3.Fin}},
		"a reset":               {[]http3.EventKind{http3.Reset}, []http3.EventKind{http3.Written, http3.Reset}},
		"the connection's end":  {nil, []http3.EventKind{http3.Written}},
	} {
		t.Run(name, func(t *testing.T) {
			l := begin()
			r := &request{reads: true, sending: true}
			r.all.Store(true)
			l.streams[4] = r
			for _, kind := range c.post {
				l.queue.post(event{kind: kind, stream: 4}, nil)
			}
			gone := errors.New("gone")
			l.queue.end(gone)
			var want []string
			for _, kind := range c.want {
				want = append(want, fmt.Sprint(4, ":", kind))
			}
			if got, end := l.kinds(); !slices.Equal(got, want) || !errors.Is(end, gone) {
				t.Errorf("got %v and %v, want %v", got, end, want)
			}
		})
	}
}
