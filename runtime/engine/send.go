package engine

import (
	"time"

	"hyperscale/core/message"
)

// sending is a request on its way out.
type sending struct {
	n    int
	err  error
	at   time.Duration // when it was written aside
	done chan struct{} // nil: it was written before send returned
}

// sendAside is the length beyond which a request may not fit into what the kernel takes
// at once: shorter ones need no goroutine.
const sendAside = 16 << 10

// send writes the request, a long one beside what is read: a server may answer before it
// has read all, and then read no more.
func (k *link) send(request []byte, now func() time.Duration) *sending {
	s := &sending{}
	if len(request) <= sendAside {
		s.n, s.err = k.stream.Write(request)
		return s
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.n, s.err = k.stream.Write(request)
		s.at = now()
	}()
	return s
}

// end takes the outcome; what is not written by then is not written at all.
func (s *sending) end(k *link) (int, error) {
	if s.done == nil {
		return s.n, s.err
	}
	select {
	case <-s.done:
	default:
		_ = k.tcp.SetWriteDeadline(time.Unix(0, 1)) // it fails if the connection is closed: then writing ends too
		<-s.done
	}
	return s.n, s.err
}

// tell tells waiting for the answer from sending, which went on aside, once all is over.
func (s *sending) tell(x *exchange) {
	switch {
	case s.done == nil || s.err != nil:
	case x.heard == 0:
		x.times.enter(message.PhaseWait, int64(s.at))
	default:
		x.times.move(message.PhaseSend, message.PhaseWait, x.heard-int64(s.at))
	}
}
