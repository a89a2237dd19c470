package loop

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// TestTimersFireInOrder: whatever is set, put off, set earlier and cancelled, timers fire when they are due, in the
// order of due and of the calls that set them. The twin looks at all of them.
func TestTimersFireInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		real, now, calls := newTimers(), node.Instant(0), uint64(0)
		twin := map[node.TimerKey]timer{}
		next := func() (first timer, ok bool) {
			//lint:orderfree the least of a total order
			for _, e := range twin {
				if !ok || e.due < first.due || e.due == first.due && e.generation < first.generation {
					first, ok = e, true
				}
			}
			return first, ok
		}
		key := rapid.Custom(func(t *rapid.T) node.TimerKey {
			return node.KeyN(node.PartManager, node.ManagerWorker, uint64(rapid.IntRange(0, 5).Draw(t, "key")))
		})
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, due := key.Draw(t, "key"), now.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "in")))
				calls++
				real.set(k, due)
				twin[k] = timer{key: k, due: due, generation: calls}
			},
			"cancel": func(t *rapid.T) {
				k := key.Draw(t, "key")
				real.cancel(k)
				delete(twin, k)
			},
			"later": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "by")))
				for {
					got, ok := real.expire(now)
					want, due := next()
					if due = due && want.due <= now; ok != due {
						t.Fatalf("at %d a timer fires: %v, want %v %+v", now, ok, due, want)
					}
					if !ok {
						return
					}
					if got.key != want.key || got.due != want.due || !real.take(got.key, got.generation) {
						t.Fatalf("at %d %v fires, due at %d, want %+v", now, got.key, got.due, want)
					}
					delete(twin, want.key)
				}
			},
			"": func(t *rapid.T) {
				got, ok := real.wait(now)
				want, some := next()
				if ok != some || ok && got != max(0, want.due.Sub(now)) {
					t.Fatalf("at %d the next one is due in %v, %v, want %+v, %v", now, got, ok, want, some)
				}
			},
		})
	})
}

// BenchmarkPutOff: a heartbeat puts off the timer of one of 10,000 workers.
func BenchmarkPutOff(b *testing.B) {
	const workers = 10_000
	t, now := newTimers(), node.Instant(0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		now = now.Add(time.Second / workers)
		t.set(node.KeyN(node.PartManager, node.ManagerWorker, uint64(i*7919%workers)), now.Add(5*time.Second))
		for _, ok := t.expire(now); ok; _, ok = t.expire(now) {
			b.Fatal("a timer fires")
		}
		t.wait(now)
	}
}
