package archive

import (
	"iter"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// fellow is another member, and the files on their way to it.
type fellow struct {
	addr      node.Addr
	queue     []*transfer // the first activeMax that are not gone are active
	transfers map[message.FileDigest]*transfer
	heard     bool // a message came since the last offers
	wait      time.Duration
	due       node.Instant // of the next offers
	question  *question    // its poll, which the next Sweep answers
}

// transfer is one file on its way to one peer.
type transfer struct {
	file   *file
	nonce  uint64
	begun  bool
	asking bool // it waits for the offset to continue from
	gone   bool
	since  node.Instant // of its last progress
	wait   time.Duration
	due    node.Instant // of its next offer: until then the earlier one may still get an answer
	acked  uint64
	sent   uint64
}

// add begins to send a file, or starts over.
func (w *fellow) add(f *file) {
	w.remove(f.digest)
	t := &transfer{file: f, nonce: f.keep.nonce, since: f.moved}
	w.transfers[f.digest] = t
	w.queue = append(w.queue, t)
}

func (w *fellow) remove(d message.FileDigest) {
	t := w.transfers[d]
	if t == nil {
		return
	}
	delete(w.transfers, d)
	t.gone = true
	for len(w.queue) > 0 && w.queue[0].gone {
		w.queue = w.queue[1:]
	}
	if len(w.queue) > 2*len(w.transfers)+activeMax {
		w.queue = slices.DeleteFunc(w.queue, func(t *transfer) bool { return t.gone })
	}
}

// active returns the transfers that may send.
func (w *fellow) active() iter.Seq[*transfer] {
	return func(yield func(*transfer) bool) {
		left := activeMax
		for _, t := range w.queue {
			if t.gone {
				continue
			}
			if left == 0 || !yield(t) {
				return
			}
			left--
		}
	}
}

// pump sends as much as may be in flight.
func (a *sender) pump(env node.Env, w *fellow) {
	flight := uint64(0)
	for t := range w.active() {
		flight += t.sent - t.acked
	}
	for t := range w.active() {
		if !t.begun {
			t.begun, t.since = true, env.Now()
			if t.file.length > offerAbove {
				a.offer(env, w, t)
			}
		}
		for !t.asking && t.sent < t.file.length && flight < window {
			n := a.chunk(env, w.addr, t.file, t.sent, t.nonce)
			t.sent += n
			flight += n
		}
	}
}

// chunk sends the bytes from an offset, and returns their number.
func (a *sender) chunk(env node.Env, to node.Addr, f *file, offset, nonce uint64) uint64 {
	end := min(f.length, offset+uint64(a.config.ChunkBytes))
	a.poster.Post(env, to, &message.FileChunk{
		Group: a.config.Group, File: f.digest, Length: f.length, Offset: offset, Nonce: nonce, Data: f.bytes[offset:end:end],
	})
	return end - offset
}

func (a *sender) offer(env node.Env, w *fellow, t *transfer) {
	t.asking = true
	t.wait = retry.Backoff{Base: a.config.Retry / 2, Cap: backoffMax * a.config.Retry}.After(t.wait)
	t.due = env.Now().Add(t.wait)
	a.poster.Post(env, w.addr, &message.FileOffer{Group: a.config.Group, File: t.file.digest, Length: t.file.length, Nonce: t.nonce})
}

// offerAgain asks a peer how much it has of each transfer without progress. The intervals grow
// while the peer is silent. They also grow for an offer that it does not answer although it
// speaks: a slow peer still has all earlier offers in its queue.
func (a *sender) offerAgain(env node.Env, w *fellow) {
	if len(w.transfers) == 0 || env.Now() < w.due {
		return
	}
	if w.heard {
		w.wait = a.config.Retry
	} else {
		w.wait = retry.Backoff{Base: a.config.Retry, Cap: backoffMax * a.config.Retry}.After(w.wait)
	}
	w.heard, w.due = false, env.Now().Add(w.wait)
	for t := range w.active() {
		if env.Now().Sub(t.since) >= a.config.Retry/2 && env.Now() >= t.due {
			t.begun = true
			a.offer(env, w, t)
		}
	}
}

// onKept takes a peer's report of how much it has.
func (a *Archive) onKept(env node.Env, w *fellow, from node.Peer, m *message.FileKept) {
	t := w.transfers[m.File]
	if t == nil || t.nonce != m.Nonce {
		return // of an earlier Keep, or a second answer
	}
	switch {
	case m.Whole:
		w.remove(m.File)
		t.file.keep.there[w.addr] = true
		a.judge(env, t.file)
	case m.Next > t.file.length:
		a.ignore(env, from, m, "it has more than there is")
		return
	case t.asking: // from any offset: the peer may have lost what it had
		t.asking, t.since, t.wait = false, env.Now(), 0
		t.acked, t.sent = m.Next, m.Next
	case m.Next > t.acked:
		t.since, t.wait = env.Now(), 0
		t.acked, t.sent = m.Next, max(t.sent, m.Next)
	}
	a.pump(env, w)
}
