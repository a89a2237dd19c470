package cores

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// twin records each request, and derives from all of them who has what.
type twin struct {
	total int
	all   []*request // in the order of arrival
}

type request struct {
	holder Holder
	want   int
	cores  []int
}

func (w *twin) user(core int) *request {
	for _, r := range w.all {
		if slices.Contains(r.cores, core) {
			return r
		}
	}
	return nil
}

// fill lets each request take the cores that it lacks, in their order: free ones, or, after an
// earlier execution of its shard has left, that one's.
func (w *twin) fill(r *request, from []int) {
	for _, core := range from {
		if len(r.cores) < r.want && w.user(core) == nil {
			r.cores = append(r.cores, core)
		}
	}
}

func (w *twin) cores() (all []int) {
	for i := range w.total {
		all = append(all, i)
	}
	return all
}

func (w *twin) free() (n int) {
	for _, core := range w.cores() {
		if w.user(core) == nil {
			n++
		}
	}
	return n
}

func (w *twin) reserve(h Holder, want int) bool {
	room := w.free()
	for _, r := range w.all {
		if r.holder.Shard == h.Shard {
			room += len(r.cores)
		}
	}
	if want < 1 || want > room {
		return false
	}
	r := &request{holder: h, want: want}
	w.all = append(w.all, r)
	w.fill(r, w.cores())
	return true
}

func (w *twin) release(h Holder) {
	at := slices.IndexFunc(w.all, func(r *request) bool { return r.holder == h })
	if at < 0 {
		return
	}
	left := slices.Sorted(slices.Values(w.all[at].cores))
	w.all = slices.Delete(w.all, at, at+1)
	for _, r := range w.all {
		if r.holder.Shard == h.Shard {
			w.fill(r, left)
		}
	}
}

// lacks finds the request of a shard that waits for cores.
func (w *twin) lacks(s message.ShardID) *request {
	for _, r := range w.all {
		if r.holder.Shard == s && len(r.cores) < r.want {
			return r
		}
	}
	return nil
}

// Executions come and go in any order. Each core has one holder, and a successor gets the cores
// of its own shard before any other holder does.
func TestCoresAreHandedOutAsByTheTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &twin{total: rapid.IntRange(1, 6).Draw(t, "cores")}
		c := New(w.total)
		next := uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				next++
				h := Holder{message.ShardID{Ordinal: rapid.Uint32Range(0, 2).Draw(t, "shard")}, next}
				if r := w.lacks(h.Shard); r != nil { // a worker gives up what waits first
					w.release(r.holder)
					c.Release(r.holder)
				}
				want := rapid.IntRange(0, w.total+1).Draw(t, "want")
				if got, is := c.Reserve(h, want), w.reserve(h, want); got != is {
					t.Fatalf("%v reserves %d: %v, want %v", h, want, got, is)
				}
			},
			"release": func(t *rapid.T) {
				h := Holder{message.ShardID{Ordinal: 9}, 1000} // of none
				if len(w.all) > 0 {
					h = rapid.SampledFrom(w.all).Draw(t, "which").holder
				}
				c.Release(h)
				w.release(h)
				if left := c.Of(h); len(left) > 0 || !c.Whole(h) {
					t.Fatalf("%v has %v after its release", h, left)
				}
			},
			"": func(t *rapid.T) {
				if c.Free() != w.free() || c.Total() != w.total {
					t.Fatalf("%d of %d are free, want %d of %d", c.Free(), c.Total(), w.free(), w.total)
				}
				for _, r := range w.all {
					if got := c.Of(r.holder); !slices.Equal(got, r.cores) || c.Whole(r.holder) != (len(r.cores) == r.want) {
						t.Fatalf("%v has %v, whole %v; want %v of %d", r.holder, got, c.Whole(r.holder), r.cores, r.want)
					}
				}
				c.Rests(func(what string, n, _ int) {
					if (n > 0) != (len(w.all) > 0) {
						t.Fatalf("%s: %d, with %d executions", what, n, len(w.all))
					}
				})
			},
		})
	})
}

// A shard owes cores to one successor: a second reservation is the caller's mistake.
func TestOneSuccessorWaitsAtATime(t *testing.T) {
	s := message.ShardID{Ordinal: 1}
	for _, tc := range []struct {
		what  string
		again Holder
	}{{"another successor", Holder{s, 3}}, {"the same holder", Holder{s, 1}}, {"no execution", Holder{s, 0}}} {
		c := New(2)
		c.Reserve(Holder{s, 1}, 2)
		if tc.what == "another successor" {
			c.Reserve(Holder{s, 2}, 1)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s reserves cores", tc.what)
				}
			}()
			c.Reserve(tc.again, 1)
		}()
	}
}
