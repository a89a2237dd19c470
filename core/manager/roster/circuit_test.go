package roster

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// fleet registers workers of four free cores each.
func fleet(n int) (r *Roster, all []*Worker) {
	r = New()
	for i := range n {
		id := node.ID(fmt.Sprint("w", i+1))
		w := r.Register(node.Peer{ID: id, Incarnation: 1, Addr: node.Addr(id + ":1")}, node.StreamID(i+1), n).Worker
		r.Heartbeat(w, &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 4, CoresFree: 4})
		all = append(all, w)
	}
	return r, all
}

// A worker whose machine fails three shards within a minute gets none for half a minute, then one alone.
// What that shard does decides: the worker gets shards again, or none for another half a minute.
func TestABrokenMachineGetsATrial(t *testing.T) {
	r, all := fleet(3)
	w, now := all[0], node.Instant(time.Hour)
	expect := func(what string, want bool) {
		t.Helper()
		if got := r.Ranking().Has(w.Peer.ID); got != want {
			t.Fatalf("%s: it gets shards: %v, want %v", what, got, want)
		}
	}
	for range 2 {
		if r.Fail(w, now) {
			t.Fatal("fewer than three failures open the circuit")
		}
	}
	expect("two failures", true)
	if !r.Fail(w, now.Add(59*time.Second)) {
		t.Fatal("a third failure within a minute does not open the circuit")
	}
	expect("three failures", false)
	if now = now.Add(59*time.Second + 30*time.Second - 1); r.Wake(w, now) || r.Serve(w) {
		t.Fatal("a trial before its time, or a shard from before closes the circuit")
	}
	expect("before the trial", false)
	if now = now.Add(1); !r.Wake(w, now) {
		t.Fatal("no trial after half a minute")
	}
	expect("at the time of the trial", true)
	if !r.Try(w, now) {
		t.Fatal("the first shard is no trial")
	}
	expect("while the trial runs", false)
	if r.Fail(w, now.Add(time.Second)) {
		t.Fatal("a failed trial opens what is open")
	}
	if now = now.Add(31 * time.Second); !r.Wake(w, now) || !r.Try(w, now) {
		t.Fatal("no second trial")
	}
	if !r.Serve(w) {
		t.Fatal("a trial that ran does not close the circuit")
	}
	expect("closed", true)
	if r.Try(w, now) || r.Wake(w, now) {
		t.Fatal("a closed circuit has trials")
	}
}

// Whatever machines fail, the circuits of at most half of the workers are open, each of the others gets
// shards, and a worker that comes back as another process begins anew.
func TestMostWorkersGetShards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, all := fleet(rapid.IntRange(1, 6).Draw(t, "workers"))
		now := node.Instant(time.Hour)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w := all[rapid.IntRange(0, len(all)-1).Draw(t, "worker")]
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0:
				now = now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "seconds")) * time.Second)
				r.Wake(w, now)
			case 1:
				r.Try(w, now)
			case 2:
				r.Serve(w)
			case 3:
				peer := w.Peer
				r.Drop(w)
				peer.Incarnation++
				again := r.Register(peer, node.StreamID(100+peer.Incarnation*10)+w.Stream, len(all)).Worker
				r.Heartbeat(again, &message.WorkerHeartbeat{Sequence: 1, CoresTotal: 4, CoresFree: 4})
				for i := range all {
					if all[i] == w {
						all[i] = again
					}
				}
			default:
				r.Fail(w, now)
			}
			open := 0
			for _, w := range all {
				if w.circuit.Open() {
					open++
				} else if !r.Ranking().Has(w.Peer.ID) {
					t.Fatalf("%s has a closed circuit, and gets no shards", w.Peer.ID)
				}
			}
			if 2*open > len(all) || open != r.tripped {
				t.Fatalf("%d of %d circuits are open, and the roster counts %d", open, len(all), r.tripped)
			}
		}
	})
}

// A program that kills executors everywhere opens the circuits of half of the workers at most, and of a
// lone worker never.
func TestAProgramThatKillsAllOpensFew(t *testing.T) {
	for _, c := range []struct{ workers, open int }{{1, 0}, {2, 1}, {3, 1}, {4, 2}} {
		r, all := fleet(c.workers)
		for range 3 {
			for _, w := range all {
				r.Fail(w, node.Instant(time.Hour))
			}
		}
		if r.tripped != c.open || r.Ranking().Len() != c.workers-c.open {
			t.Errorf("%d circuits are open and %d of %d workers get shards, want %d", r.tripped, r.Ranking().Len(), c.workers, c.workers-c.open)
		}
	}
}
