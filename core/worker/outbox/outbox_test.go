package outbox

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// twin is an outbox that records what happened, and derives each answer from the start.
type twin struct {
	all []*entry
}

type entry struct {
	item    *Item
	manager node.ID
	since   int // retries under that manager
	copies  []bool
	writing bool
}

func (w *twin) index(x *Item) int {
	return slices.IndexFunc(w.all, func(e *entry) bool { return e.item == x })
}

// next walks through the retries of a result under its manager, one by one.
func (e *entry) next(connected []node.ID) (node.ID, bool) {
	e.since++
	at := -1
	for i, id := range connected {
		if id == e.manager {
			at = i
		}
	}
	if at >= 0 && e.since <= 2 {
		return e.manager, true
	}
	if len(connected) == 0 {
		return "", false
	}
	for range max(1, e.since-2) {
		if at++; at == len(connected) {
			at = 0
		}
	}
	return connected[at], true
}

// Results arrive, get renewals and writes, go out again and leave, in any order.
func TestResultsWaitAsInTheTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		managers := []node.ID{"m1", "m2", "m3"}
		most := rapid.IntRange(1, 4).Draw(t, "bound")
		o, w := New(most), &twin{}
		now, ordinal := node.Instant(1), uint32(0)
		manager := rapid.SampledFrom(managers)
		connected := func() []node.ID {
			return slices.DeleteFunc(slices.Clone(managers), func(node.ID) bool { return rapid.Bool().Draw(t, "away") })
		}
		some := func(t *rapid.T) *entry {
			if len(w.all) == 0 {
				t.Skip()
			}
			return rapid.SampledFrom(w.all).Draw(t, "which")
		}
		t.Repeat(map[string]func(*rapid.T){
			"end": func(t *rapid.T) {
				ordinal++
				id := manager.Draw(t, "manager")
				x := &Item{Result: &message.ShardResult{Shard: message.ShardID{Ordinal: ordinal}}, Manager: id, Ended: now}
				o.Add(x)
				w.all = append(w.all, &entry{item: x, manager: id})
			},
			"wait":  func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "seconds")) * time.Second) },
			"clear": func(t *rapid.T) { o.Clear(); w.all = nil },
			"renew": func(t *rapid.T) {
				e, id := some(t), manager.Draw(t, "by")
				if e.item.To(id); e.manager != id {
					e.manager, e.since = id, 0
				}
			},
			"acknowledge": func(t *rapid.T) {
				e := some(t)
				o.Remove(e.item)
				o.Remove(e.item) // a second time: it has left
				w.all = slices.Delete(w.all, w.index(e.item), w.index(e.item)+1)
			},
			"retry": func(t *rapid.T) {
				e, ids := some(t), connected()
				to, ok := e.item.Next(ids)
				if want, is := e.next(ids); to != want || ok != is {
					t.Fatalf("retry %d of a result of %s goes to %q, %v; want %q, %v of %v", e.since, e.manager, to, ok, want, is, ids)
				}
			},
			"write": func(t *rapid.T) {
				e := some(t)
				if got, want := e.item.Write(), !e.writing && !slices.Contains(e.copies, true); got != want {
					t.Fatalf("a write begins: %v, want %v; before it %v, %v", got, want, e.writing, e.copies)
				} else if got {
					e.writing = true
				}
			},
			"written": func(t *rapid.T) {
				if e := some(t); e.writing {
					var err error
					if rapid.Bool().Draw(t, "fails") {
						err = errors.New("full")
					}
					e.item.Wrote(err)
					e.writing, e.copies = false, append(e.copies, err == nil)
				}
			},
			"": func(t *rapid.T) {
				if o.Len() != len(w.all) || o.Full() != (len(w.all) >= most) || len(o.Refs()) != len(w.all) {
					t.Fatalf("%d results, full %v; want %d", o.Len(), o.Full(), len(w.all))
				}
				ids, id, age := connected(), manager.Draw(t, "of"), time.Duration(rapid.IntRange(0, 30).Draw(t, "age"))*time.Second
				var evictable, expired *Item
				var of []*Item
				pending := 0
				for i, e := range w.all {
					if slices.Contains(ids, e.manager) || e.item.Ended.Add(age) > now {
						pending++
					}
					if o.All()[i] != e.item || o.Refs()[i].Shard != e.item.Result.Shard {
						t.Fatalf("result %d is of %v, want %v", i, o.All()[i].Result.Shard, e.item.Result.Shard)
					}
					if evictable == nil && !slices.Contains(ids, e.manager) {
						evictable = e.item
					}
					if e.manager == id {
						of = append(of, e.item)
					}
				}
				if len(w.all) > 0 && now >= w.all[0].item.Ended.Add(age) {
					expired = w.all[0].item
				}
				if got := o.Evictable(ids); got != evictable {
					t.Fatalf("%+v is evicted, want %+v", got, evictable)
				}
				if got := o.Expired(now, age); got != expired {
					t.Fatalf("%+v has expired, want %+v", got, expired)
				}
				if got := o.Pending(ids, now, age); got != pending {
					t.Fatalf("%d are pending for %v within %v, want %d", got, ids, age, pending)
				}
				if got := o.Of(id); !slices.Equal(got, of) {
					t.Fatalf("%v are of %s, want %v", got, id, of)
				}
			},
		})
	})
}
