package roster

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// fuse is that of the circuit around a worker's machine: of shards that its executors died with, and of
// executors that it could not start. A worker that fails at once has free cores at once, so it would be
// chosen again and again.
func fuse() retry.Fuse {
	return retry.Fuse{Failures: 3, Window: time.Minute, Reset: 30 * time.Second}
}

// Fail counts a shard that a worker's machine has failed, and says whether its circuit has opened. While
// as many circuits as half of the workers are open, no other opens: a program that kills executors
// everywhere is no machine's fault, and shards must go somewhere.
func (r *Roster) Fail(w *Worker, now node.Instant) (opened bool) {
	was := w.circuit.Open()
	if opened = w.circuit.Failed(fuse(), now); opened {
		r.tripped++
	}
	if !was && 2*r.tripped > len(r.workers) {
		r.close(w)
		return false
	}
	if w.circuit.Open() {
		w.tripped = now.Add(w.circuit.Left(now))
		r.rank(w)
	}
	return opened
}

// Tripped counts the workers whose circuit is open. name is the first one of them.
func (r *Roster) Tripped() (n int, name node.ID) {
	if r.tripped == 0 {
		return 0, ""
	}
	for _, w := range r.All() {
		if w.circuit.Open() {
			return r.tripped, w.Peer.ID
		}
	}
	return 0, ""
}

// Wake lets a worker whose circuit is open have a trial, if its time has come, and says whether it does.
func (r *Roster) Wake(w *Worker, now node.Instant) (may bool) {
	if w.tripped == 0 || now < w.tripped {
		return false
	}
	w.tripped = 0
	r.rank(w)
	return true
}

// Try notes that a worker gets a shard. With an open circuit that is its trial: it gets no other one.
func (r *Roster) Try(w *Worker, now node.Instant) (trial bool) {
	if !w.circuit.Open() || w.circuit.Try(fuse(), now) > 0 {
		return false
	}
	w.tripped = now.Add(w.circuit.Left(now))
	r.rank(w)
	return true
}

// Serve notes that a worker's machine has run a shard. A trial closes the circuit; a shard that ran since
// before the failures says nothing of them.
func (r *Roster) Serve(w *Worker) (closed bool) {
	if !w.circuit.Tries() {
		return false
	}
	r.close(w)
	return true
}

func (r *Roster) close(w *Worker) {
	if w.circuit.Worked() {
		r.tripped--
	}
	w.tripped = 0
	r.rank(w)
}
