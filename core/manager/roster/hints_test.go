package roster

import (
	"strconv"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// What another manager gives a worker is not free: until the worker reports, or refuses, or the hint's
// time is over, to the nanosecond.
func TestHintsEnd(t *testing.T) {
	const until = node.Instant(2 * time.Second)
	a, b := message.ShardID{Ordinal: 1}, message.ShardID{Ordinal: 2}
	f := message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}
	for _, c := range []struct {
		about       string
		do          func(*Roster, *Worker)
		free, seats uint32
	}{
		{"at once", func(*Roster, *Worker) {}, 5, 3},
		{"told twice", func(r *Roster, w *Worker) { r.Hint("w1", a, 3, 1, until) }, 5, 3},
		{"of two shards", func(r *Roster, w *Worker) { r.Hint("w1", b, 1, 2, until) }, 4, 1},
		{"of more than it has", func(r *Roster, w *Worker) { r.Hint("w1", b, 1<<31, 1<<31, until); r.Hint("w1", a, 1<<31, 0, until) }, 0, 0},
		{"a nanosecond before its end", func(r *Roster, w *Worker) { r.Expire(until - 1) }, 5, 3},
		{"at its end", func(r *Roster, w *Worker) { r.Expire(until) }, 8, 4},
		{"a later one remains", func(r *Roster, w *Worker) { r.Hint("w1", a, 2, 0, until+1); r.Expire(until) }, 6, 4},
		{"after a heartbeat", func(r *Roster, w *Worker) {
			r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 2, CoresTotal: 8, CoresFree: 7, SeatsFree: 2})
		}, 7, 2},
		{"after an old heartbeat", func(r *Roster, w *Worker) {
			r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 8, CoresFree: 7})
		}, 5, 3},
		{"after a refusal", func(r *Roster, w *Worker) { r.Refused(w, &message.ShardRefused{CoresFree: 6, SeatsFree: 4}) }, 6, 4},
		{"of a shard that it lists", func(r *Roster, w *Worker) {
			r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 2, CoresTotal: 8, CoresFree: 5, Running: []message.ShardRef{{Shard: a, Fence: f}}})
			r.Hint("w1", a, 3, 0, until)
		}, 5, 0},
		{"of a shard that this manager gives it", func(r *Roster, w *Worker) { r.Give(w, a, Given{Fence: f, Cores: 2}) }, 6, 4},
		{"about another worker", func(r *Roster, w *Worker) { r.Hint("w9", b, 3, 0, until) }, 5, 3},
	} {
		r := New()
		w := r.Register(node.Peer{ID: "w1", Incarnation: 1}, 1, 9).Worker
		r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 8, CoresFree: 8, SeatsFree: 4})
		r.Hint("w1", a, 3, 1, until)
		c.do(r, w)
		if ranked, _ := r.Ranking().Cores(); w.Free() != c.free || w.FreeSeats() != c.seats || ranked != uint64(c.free) {
			t.Errorf("%s: %d cores and %d seats are free, %d are ranked; want %d and %d", c.about, w.Free(), w.FreeSeats(), ranked, c.free, c.seats)
		}
	}
}

// Of two shards that two managers give a worker at the same time, exactly one is outbid.
func TestOneOfTwoIsOutbid(t *testing.T) {
	first, second := message.ShardID{Job: message.JobID{1}}, message.ShardID{Job: message.JobID{2}}
	outbid := func(mine, other message.ShardID, cores uint32) bool {
		r := New()
		w := r.Register(node.Peer{ID: "w1", Incarnation: 1}, 1, 9).Worker
		r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 4, CoresFree: 4})
		r.Give(w, mine, w.Takes(message.Fence{Attempt: 1}, cores, message.TenancyOwn))
		r.Hint("w1", other, cores, 0, 1)
		if w.Outbid(mine, message.TenancyJob) {
			t.Error("a shard that shares cores is outbid")
		}
		return w.Outbid(mine, message.TenancyOwn)
	}
	for cores := range uint32(5) {
		if a, b := outbid(first, second, cores), outbid(second, first, cores); a || b != (cores > 2) {
			t.Errorf("two shards of %d of 4 cores: the first is outbid: %v, the second: %v", cores, a, b)
		}
	}
}

// Hints are bounded, also about one worker, and their ends leave nothing behind.
func TestHintsAreBounded(t *testing.T) {
	const workers = 2 * HintsMax / hintsOfOne
	r := New()
	for i := range node.StreamID(workers) {
		w := r.Register(node.Peer{ID: node.ID(strconv.Itoa(int(i))), Incarnation: 1}, i+1, workers).Worker
		r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 8, CoresFree: 8})
		for k := range uint32(2 * hintsOfOne) {
			r.Hint(w.Peer.ID, message.ShardID{Ordinal: k}, 1, 0, 1)
		}
		if len(w.hints) > hintsOfOne {
			t.Fatalf("%d hints about one worker", len(w.hints))
		}
	}
	if len(r.due) != HintsMax {
		t.Errorf("%d hints, want %d", len(r.due), HintsMax)
	}
	r.Expire(1)
	for _, w := range r.All() {
		if len(r.due) != 0 || len(w.hints) != 0 || w.Free() != 8 {
			t.Fatalf("%d hints, and %d of one worker, remain; %d cores are free", len(r.due), len(w.hints), w.Free())
		}
	}
}
