package epoll

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const ms = int64(time.Millisecond)

// model is the simplest wheel: deadlines rounded up to ticks.
type model map[int32]int64

func (m model) expire(now int64) []int32 {
	var fired []int32
	for id, deadline := range m {
		if (deadline+ms-1)/ms <= now/ms {
			fired = append(fired, id)
			delete(m, id)
		}
	}
	slices.Sort(fired)
	return fired
}

func drain(w *Wheel, now int64) []int32 {
	var fired []int32
	for id, ok := w.Expire(now); ok; id, ok = w.Expire(now) {
		fired = append(fired, id)
	}
	slices.Sort(fired)
	return fired
}

func TestWheelIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64Range(0, 1<<62-1).Draw(t, "start")
		if rapid.Bool().Draw(t, "at the edge of a level") {
			now = (1<<32-rapid.Int64Range(0, 3).Draw(t, "before"))*ms - 1
		}
		w, m := NewWheel(now), model{}
		// Shifts make the delays fall on every level, and on both sides of their edges.
		delay := func() int64 {
			return rapid.Int64Range(-2*ms, 400*ms).Draw(t, "delay") << rapid.SampledFrom([]int{0, 0, 0, 8, 16, 24}).Draw(t, "level")
		}
		id := rapid.Int32Range(0, 20)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				i, deadline := id.Draw(t, "id"), max(0, now+delay())
				w.Set(i, deadline)
				m[i] = deadline
			},
			"cancel": func(t *rapid.T) {
				i := id.Draw(t, "id")
				w.Cancel(i)
				delete(m, i)
			},
			"expire": func(t *rapid.T) {
				now += max(0, delay())
				if diff := cmp.Diff(m.expire(now), drain(w, now)); diff != "" {
					t.Fatalf("at %d (-model +wheel):\n%s", now, diff)
				}
			},
			"sleep": func(t *rapid.T) {
				wait := w.Timeout(now)
				if (wait == Forever) != (len(m) == 0) {
					t.Fatalf("Timeout is %v with %d armed", wait, len(m))
				}
				if wait == Forever {
					return
				}
				// One nanosecond earlier nothing may be due, else the sleep is too long.
				if wait > 0 {
					if fired := m.expire(now + int64(wait) - 1); len(fired) > 0 {
						t.Fatalf("sleeping %v from %d misses %v", wait, now, fired)
					}
				}
				now += int64(wait)
				if diff := cmp.Diff(m.expire(now), drain(w, now)); diff != "" {
					t.Fatalf("after sleeping %v, at %d (-model +wheel):\n%s", wait, now, diff)
				}
			},
			"": func(t *rapid.T) {
				if w.Armed() != len(m) {
					t.Fatalf("%d armed, want %d", w.Armed(), len(m))
				}
			},
		})
	})
}

func TestWheelCancelBetweenExpirations(t *testing.T) {
	w := NewWheel(0)
	w.Set(1, 5*ms)
	w.Set(2, 5*ms)
	first, _ := w.Expire(5 * ms)
	w.Cancel(3 - first)
	if id, ok := w.Expire(5 * ms); ok {
		t.Errorf("timer %d fired although it was cancelled", id)
	}
}

func TestWheelAllocatesNothing(t *testing.T) {
	w := NewWheel(0)
	w.Set(999, 0)
	now := int64(0)
	allocs := testing.AllocsPerRun(100, func() {
		for id := range int32(1000) {
			w.Set(id, now+int64(id)*3*ms)
		}
		now += 2000 * ms
		for _, ok := w.Expire(now); ok; _, ok = w.Expire(now) {
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func BenchmarkWheel(b *testing.B) {
	b.Run("reset", func(b *testing.B) {
		b.ReportAllocs()
		w := NewWheel(0)
		for i := int64(0); b.Loop(); i++ {
			w.Set(int32(i%10_000), i*1000+5_000*ms)
		}
	})
	b.Run("fire", func(b *testing.B) {
		b.ReportAllocs()
		w := NewWheel(0)
		for id := range int32(10_000) {
			w.Set(id, int64(id)*ms/10)
		}
		for now := int64(0); b.Loop(); {
			id, ok := w.Expire(now)
			if !ok {
				now += int64(w.Timeout(now))
				continue
			}
			w.Set(id, now+1000*ms)
		}
	})
}
