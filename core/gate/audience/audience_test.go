package audience_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/gate/audience"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// pair is a watcher in the model.
type pair struct {
	stream node.StreamID
	job    message.JobID
}

// TestWatchersAreWhoAsked plays watches, broken streams, ends and pushes. A plain list tells
// who watches what, under which request, and who waits for a push.
func TestWatchersAreWhoAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := audience.Bounds{Watchers: rapid.IntRange(1, 6).Draw(t, "watchers_max"), PushMin: time.Second}
		a := audience.New(b)
		request := map[pair]uint64{}
		pushed, joined := map[pair]node.Instant{}, map[pair]bool{}
		greeted := map[node.StreamID]bool{}
		var all, pending []pair
		now := node.Instant(1)
		drop := func(gone func(pair) bool) {
			for _, p := range all {
				if gone(p) {
					delete(request, p)
					delete(pushed, p)
				}
			}
			all, pending = slices.DeleteFunc(all, gone), slices.DeleteFunc(pending, gone)
		}
		find := func(p pair) *audience.Watcher {
			of := a.Of(p.job)
			at := slices.IndexFunc(of, func(w *audience.Watcher) bool { return w.Stream == p.stream })
			if at < 0 {
				t.Fatalf("%v watches and is not listed", p)
			}
			return of[at]
		}
		for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
			p := pair{node.StreamID(rapid.IntRange(1, 4).Draw(t, "stream")), message.JobID{byte(rapid.IntRange(1, 3).Draw(t, "job"))}}
			watches := slices.Contains(all, p)
			switch rapid.SampledFrom([]string{"follow", "follow", "follow", "greet", "break", "end", "wait", "wait", "push", "time"}).Draw(t, "what") {
			case "follow":
				w, again := a.Follow(p.job, &audience.Ask{Stream: p.stream, Request: message.RequestID{Counter: uint64(n + 1)}})
				if room := watches || len(all) < b.Watchers; (w != nil) != room || again != watches {
					t.Fatalf("%v, of %d watchers: taken %v, known %v; want %v, %v", p, len(all), w != nil, again, room, watches)
				}
				if w != nil {
					request[p], joined[p] = uint64(n+1), true
				}
				if w != nil && !watches {
					all = append(all, p)
				}
			case "greet":
				room := len(greeted) < b.Watchers
				if a.Greeted(p.stream) != greeted[p.stream] {
					t.Fatalf("stream %d is greeted: %v", p.stream, !greeted[p.stream])
				}
				if !greeted[p.stream] {
					if a.Greet(p.stream) != room {
						t.Fatalf("%d are greeted, there is room: %v", len(greeted), !room)
					} else if room {
						greeted[p.stream] = true
					}
				}
			case "break":
				a.Broken(p.stream)
				delete(greeted, p.stream)
				drop(func(o pair) bool { return o.stream == p.stream })
			case "end":
				a.Unfollow(p.job)
				drop(func(o pair) bool { return o.job == p.job })
			case "wait":
				if watches {
					arm, known := a.Wait(find(p)), slices.Contains(pending, p)
					if arm && known {
						t.Fatalf("%v waits already, and the timer is set again", p)
					}
					if !known {
						pending = append(pending, p)
					}
				}
			case "push":
				var got []pair
				for _, w := range a.Take() {
					got = append(got, pair{w.Stream, w.Job})
					w.Pushed(now)
					pushed[pair{w.Stream, w.Job}], joined[pair{w.Stream, w.Job}] = now, false
				}
				if !slices.Equal(got, pending) {
					t.Fatalf("pushed to %v, want %v", got, pending)
				}
				pending = nil
			case "time":
				now = now.Add(600 * time.Millisecond)
			}
			if a.Len() != len(all) {
				t.Fatalf("%d watchers are counted, want %d", a.Len(), len(all))
			}
			for job := range byte(4) {
				var want []string
				for _, o := range all {
					if o.job == (message.JobID{job}) {
						want = append(want, fmt.Sprint(o.stream, request[o]))
					}
				}
				var got []string
				for _, w := range a.Of(message.JobID{job}) {
					got = append(got, fmt.Sprint(w.Stream, w.Request.Counter))
				}
				if !slices.Equal(got, want) {
					t.Fatalf("job %d is watched by %v, want %v", job, got, want)
				}
			}
			for _, o := range all {
				at, was := pushed[o]
				if w := find(o); w.First() != joined[o] || a.Soon(w, now) != (was && now.Sub(at) < b.PushMin) {
					t.Fatalf("%v was pushed to at %v (%v), now is %v: first %v, soon %v", o, at, was, now, w.First(), a.Soon(w, now))
				}
			}
			a.Sizes(func(what string, n, bound int) {
				if n > bound {
					t.Fatalf("%s is %d, the bound is %d", what, n, bound)
				}
			})
		}
		for _, p := range slices.Clone(all) {
			a.Broken(p.stream)
		}
		a.Take()
		a.Rests(func(what string, n, rest int) {
			if n > rest {
				t.Fatalf("%s is %d after all have gone", what, n)
			}
		})
	})
}

// TestRequestsWaitWithinTheirBounds: a job and a lookup hold as many waiting requests as their
// bounds allow. A request that the caller took waits no more, and a lookup ends only for its
// own ticket.
func TestRequestsWaitWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 3).Draw(t, "most")
		var w audience.Waiting
		var asks, cancels []*audience.Ask
		l := audience.NewLookups(2, most)
		open := map[message.JobID]uint64{}
		waits := map[message.JobID][]*audience.Ask{}
		for n := range rapid.IntRange(1, 30).Draw(t, "steps") {
			q := &audience.Ask{What: audience.Status, Stream: node.StreamID(n + 1), Request: message.RequestID{Counter: uint64(n + 1)}}
			job := message.JobID{byte(rapid.IntRange(1, 3).Draw(t, "job"))}
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				if room := len(asks) < most; w.Add(q, most) != room {
					t.Fatalf("%d of %d wait, and there is room: %v", len(asks), most, !room)
				} else if room {
					asks = append(asks, q)
				}
			case 1:
				if room := len(cancels) < most; w.Cancel(q, most) != room {
					t.Fatalf("%d of %d cancel, and there is room: %v", len(cancels), most, !room)
				} else if room {
					cancels = append(cancels, q)
				}
			case 2:
				if got := w.TakeAsks(); !slices.Equal(got, asks) {
					t.Fatalf("taken are %d requests, want %d", len(got), len(asks))
				}
				asks = nil
			case 3:
				if got := w.TakeCancels(); !slices.Equal(got, cancels) {
					t.Fatalf("taken are %d cancellations, want %d", len(got), len(cancels))
				}
				cancels = nil
			case 4:
				room, first := l.Room(job)
				_, known := open[job]
				if want := known && len(waits[job]) < most || !known && len(open) < 2; room != want || first == known {
					t.Fatalf("there is room: %v, it is the first: %v; want %v, %v", room, first, want, !known)
				}
				if room && first {
					l.Open(job, uint64(n+1))
					open[job] = uint64(n + 1)
				}
				if room {
					l.Add(job, q)
					waits[job] = append(waits[job], q)
				}
			case 5:
				ticket := open[job] + uint64(rapid.IntRange(0, 1).Draw(t, "ticket"))
				got, ok := l.Take(job, ticket)
				if own := open[job] == ticket && ticket > 0; ok != own || own && !slices.Equal(got, waits[job]) {
					t.Fatalf("ticket %d of a lookup under %d answers: %v, %d requests", ticket, open[job], ok, len(got))
				} else if own {
					delete(open, job)
					delete(waits, job)
				}
			}
			if l.Len() != len(open) || w.Len() != len(asks)+len(cancels) {
				t.Fatalf("%d lookups and %d requests, want %d and %d", l.Len(), w.Len(), len(open), len(asks)+len(cancels))
			}
			watcher := &audience.Watcher{Stream: 99, Request: message.RequestID{Counter: 99}}
			again := w.All([]*audience.Watcher{watcher})
			if len(again) != w.Len()+1 || again[len(again)-1].What != audience.Watch || again[len(again)-1].Stream != 99 {
				t.Fatalf("to be asked again are %d requests, want %d and a watch", len(again), w.Len())
			}
		}
	})
}

// A reader that joins those of its client gets a push with what all of them need, such as the plan, and at their pace.
func TestAReaderThatJoins(t *testing.T) {
	a := audience.New(audience.Bounds{Watchers: 1, PushMin: time.Second})
	job, now := message.JobID{1}, node.Instant(1)
	for n := range uint64(3) {
		w, again := a.Follow(job, &audience.Ask{Stream: 1, Request: message.RequestID{Counter: n + 1}})
		if !w.First() || again != (n > 0) || a.Soon(w, now) != (n > 0) {
			t.Fatalf("request %d: first %v, again %v, waits %v", n+1, w.First(), again, a.Soon(w, now))
		}
		if w.Pushed(now); w.First() {
			t.Fatalf("request %d: the push behind it has the plan as well", n+1)
		}
	}
}
