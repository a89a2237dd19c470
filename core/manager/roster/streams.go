package roster

import (
	"maps"
	"slices"
	"time"

	"hyperscale/core/node"
)

// Streams counts the streams of workers, including those on which none has registered yet.
func (r *Roster) Streams() int { return len(r.streams) }

// Opened adds a stream on which no worker has registered yet.
func (r *Roster) Opened(s node.StreamID, now node.Instant) {
	r.streams[s], r.unmet[s] = nil, now
}

// On returns the worker of a stream, nil before it registers. It returns false if the stream is
// not a worker's.
func (r *Roster) On(s node.StreamID) (*Worker, bool) {
	w, ok := r.streams[s]
	return w, ok
}

// Heard records that a message came on a stream.
func (r *Roster) Heard(s node.StreamID, now node.Instant) {
	if _, waits := r.unmet[s]; waits {
		r.unmet[s] = now
	}
}

// Broken forgets a stream, and returns the worker that lost it, if there is one. The worker's
// silence decides about it, not its stream.
func (r *Roster) Broken(s node.StreamID) *Worker {
	w := r.streams[s]
	delete(r.streams, s)
	delete(r.unmet, s)
	if w == nil || w.Stream != s {
		return nil
	}
	w.Stream = 0
	r.rank(w)
	return w
}

// Unmet forgets, and returns, the streams on which no worker has registered and which stay
// silent for so long: their peer is gone, and the network reports no break.
//
//  1. A worker opens a stream; its host loses power before the first heartbeat.
//  2. The network reports no break to the manager, since the manager sends nothing.
//  3. Each restart adds a stream, until the manager sheds the streams of others.
func (r *Roster) Unmet(now node.Instant, silence time.Duration) (gone []node.StreamID) {
	for _, s := range slices.Sorted(maps.Keys(r.unmet)) {
		if now.Sub(r.unmet[s]) >= silence {
			delete(r.unmet, s)
			delete(r.streams, s)
			gone = append(gone, s)
		}
	}
	return gone
}
