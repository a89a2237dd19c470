package roster

import (
	"maps"
	"slices"
	"time"

	"hyperscale/core/node"
)

// Streams counts the streams of workers, those included on which none registered yet.
func (r *Roster) Streams() int { return len(r.streams) }

// Opened takes the stream of a worker that has not registered on it.
func (r *Roster) Opened(s node.StreamID, now node.Instant) {
	r.streams[s], r.unmet[s] = nil, now
}

// On returns the worker of a stream, nil before it registers. False: it is no stream of
// a worker.
func (r *Roster) On(s node.StreamID) (*Worker, bool) {
	w, ok := r.streams[s]
	return w, ok
}

// Heard notes that a message came on a stream.
func (r *Roster) Heard(s node.StreamID, now node.Instant) {
	if _, waits := r.unmet[s]; waits {
		r.unmet[s] = now
	}
}

// Broken forgets a stream, and returns the worker that is away without it, if there is
// one. Its silence decides, not its stream.
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

// Unmet forgets, and returns, the streams on which no worker has registered and which
// stay silent for so long: their peer is gone, and no break tells so.
//
//  1. A worker opens a stream; its host loses power before the first heartbeat.
//  2. The network tells the manager of no break, since the manager sends nothing.
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
