package http2

import "slices"

// flow holds both sides' windows, and the streams that wait for one (RFC 9113, 5.2).
type flow struct {
	send   int64    // what we may send
	recv   int64    // bytes that the server may still send
	offer  int      // the window that we offered
	credit int64    // bytes taken since the connection's last WINDOW_UPDATE
	bodies []uint32 // streams that have body left and window for it, in turn
	due    []uint32 // streams whose windows the client must return, 0 for the connection
}

func (w *flow) emptied(offer int) flow {
	return flow{send: windowFirst, recv: int64(offer), offer: offer, bodies: w.bodies[:0], due: w.due[:0]}
}

// queueBody puts a stream that may send in the queue of those that do.
func (w *flow) queueBody(s *stream) {
	if !s.queued && s.left > 0 && s.sendWindow > 0 {
		s.queued = true
		w.bodies = append(w.bodies, s.id)
	}
}

// forget takes a stream out of the queue.
func (w *flow) forget(s *stream) {
	if s.queued {
		i := slices.Index(w.bodies, s.id)
		w.bodies = slices.Delete(w.bodies, i, i+1)
	}
}

// requeue updates the queue of streams that may send, after windows moved either way.
func (w *flow) requeue(all *streams) {
	kept := w.bodies[:0]
	for _, id := range w.bodies {
		if s := all.find(id); s.sendWindow > 0 {
			kept = append(kept, id)
		} else {
			s.queued = false
		}
	}
	w.bodies = kept
	for i := range all.slots {
		if s := &all.slots[i]; s.id != 0 {
			w.queueBody(s)
		}
	}
}

// taken records received bytes: for the connection, and for a stream that continues.
func (w *flow) taken(n int) {
	before := w.credit
	if w.credit += int64(n); isDue(before, w.credit, w.offer) {
		w.due = append(w.due, 0)
	}
}

func (w *flow) takenBy(s *stream, n, offer int) {
	before := s.credit
	if s.credit += int64(n); isDue(before, s.credit, offer) {
		w.due = append(w.due, s.id)
	}
}

// isDue reports whether a credit has just reached half of its window.
func isDue(before, credit int64, window int) bool {
	half := int64(window) / 2
	return before < half && credit >= half
}

// giveBack queues WINDOW_UPDATEs. A credit counts from here on, and not from when its bytes
// came: before we have written it the server cannot know of it.
func (w *flow) giveBack(all *streams, out *outbox) {
	for _, id := range w.due {
		if id == 0 {
			out.window(0, int(w.credit))
			w.recv += w.credit
			w.credit = 0
		} else if s := all.find(id); s != nil {
			out.window(id, int(s.credit))
			s.recvWindow += s.credit
			s.credit = 0
		}
	}
	w.due = w.due[:0]
}

// pump queues request bodies as far as both windows and the output allow, a frame a
// stream in turn.
func (w *flow) pump(all *streams, out *outbox, most, frame int) {
	done := 0 // streams at the front that had their turn
	for done < len(w.bodies) && w.send > 0 {
		room := most - out.left() - frameHead
		if room <= 0 {
			break
		}
		id := w.bodies[done]
		s := all.find(id)
		n := int(min(int64(s.left), int64(frame), int64(room), s.sendWindow, w.send))
		flags := byte(0)
		more := all.more(s)
		if n == s.left && !more.grows() {
			flags = flagEndStream
		}
		out.bytes = appendBody(appendFrame(out.bytes, n, typeData, flags, id), s, more, n)
		s.gone, s.left, s.end = s.gone+n, s.left-n, out.queued()
		more.pass(s, out)
		s.out += uint64(frameHead + n)
		if s.count != nil && s.left == 0 {
			out.departs = append(out.departs, departure{s.end, s.count})
		}
		s.sendWindow -= int64(n)
		w.send -= int64(n)
		done++
		if s.queued = s.left > 0 && s.sendWindow > 0; s.queued {
			w.bodies = append(w.bodies, id)
		}
		if done == cap(w.bodies)/2+1 {
			w.bodies = w.bodies[:copy(w.bodies, w.bodies[done:])]
			done = 0
		}
	}
	w.bodies = w.bodies[:copy(w.bodies, w.bodies[done:])]
}
