package cores

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// twin knows each execution, what it asked for, and the cores that it has.
type twin struct {
	c   *Cores
	all []*request // in the order of arrival
}

type request struct {
	holder Holder
	Want
	cores []int
}

// beside lists who holds a core, without executions of one shard; zero: with all.
func (w *twin) beside(core int, without uint64) (list []*request) {
	for _, r := range w.all {
		if slices.Contains(r.cores, core) && (without == 0 || uint64(r.holder.Shard.Ordinal)+1 != without) {
			list = append(list, r)
		}
	}
	return list
}

// fits says that an execution can have a core beside others.
func (r *request) fits(others []*request) bool {
	for _, o := range others {
		if o.holder == r.holder || o.Tenancy != r.Tenancy || r.Tenancy == message.TenancyOwn || r.Tenancy == message.TenancyMachine {
			return false
		}
		if r.Tenancy == message.TenancyJob && o.holder.Shard.Job != r.holder.Shard.Job {
			return false
		}
	}
	return r.Tenancy != message.TenancyLight || len(others) < message.CoreSeats
}

// rank orders the cores that an execution can have now: the best first.
func (w *twin) rank(r *request) (list []int) {
	for core := range w.c.Total() {
		if r.fits(w.beside(core, 0)) {
			list = append(list, core)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		la, lb := len(w.beside(a, 0)), len(w.beside(b, 0))
		if r.Tenancy != message.TenancyLight {
			return la - lb
		}
		if (la == 0) != (lb == 0) { // one that others share comes first
			return lb - la
		}
		return la - lb
	})
	return list
}

func (w *twin) reserve(h Holder, want Want) bool {
	r := &request{holder: h, Want: want}
	if want.Tenancy == message.TenancyMachine {
		r.Cores = w.c.Total()
	}
	room := 0
	for core := range w.c.Total() {
		if r.fits(w.beside(core, 0)) || r.fits(w.beside(core, uint64(h.Shard.Ordinal)+1)) {
			room++
		}
	}
	if r.Cores < 1 || r.Cores > room {
		return false
	}
	w.all = append(w.all, r)
	for len(r.cores) < r.Cores {
		best := w.rank(r)
		if len(best) == 0 {
			break
		}
		r.cores = append(r.cores, best[0])
	}
	return true
}

// leave takes a core, or all of them, from an execution.
func (w *twin) leave(r *request, cores ...int) {
	for _, core := range cores {
		r.cores = slices.DeleteFunc(r.cores, func(c int) bool { return c == core })
		for _, o := range w.all {
			if o.holder.Shard == r.holder.Shard && o != r && len(o.cores) < o.Cores && o.fits(w.beside(core, 0)) {
				o.cores = append(o.cores, core)
			}
		}
	}
}

func (w *twin) release(r *request) {
	r.Cores = 0 // it is owed nothing any more
	w.leave(r, slices.Sorted(slices.Values(r.cores))...)
	w.all = slices.DeleteFunc(w.all, func(o *request) bool { return o == r })
}

// lacks finds the request of a shard that waits for cores.
func (w *twin) lacks(s message.ShardID) *request {
	for _, r := range w.all {
		if r.holder.Shard == s && len(r.cores) < r.Cores {
			return r
		}
	}
	return nil
}

// Executions come and go in any order. No two hold a core that cannot share it, and a successor
// gets the cores of its own shard before any other holder does.
func TestCoresAreHandedOutAsByTheTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(rapid.IntRange(1, 6).Draw(t, "cores"))
		w := &twin{c: c}
		next := uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				next++
				n := rapid.Uint32Range(0, 12).Draw(t, "shard")
				h := Holder{message.ShardID{Job: message.JobID{byte(n % 2)}, Ordinal: n}, next}
				if r := w.lacks(h.Shard); r != nil { // a worker gives up what waits first
					c.Release(r.holder)
					w.release(r)
				}
				want := Want{
					Cores:   rapid.IntRange(0, c.Total()+1).Draw(t, "want"),
					Tenancy: message.Tenancy(rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3}).Draw(t, "tenancy")),
				}
				if got, is := c.Reserve(h, want), w.reserve(h, want); got != is {
					t.Fatalf("%v reserves %+v: %v, want %v", h, want, got, is)
				}
			},
			"leave": func(t *rapid.T) {
				for _, r := range w.all {
					if len(r.cores) > 0 && len(r.cores) == r.Cores { // it runs, and one executor ends
						core := rapid.SampledFrom(r.cores).Draw(t, "core")
						r.Cores--
						c.Leave(r.holder, core)
						w.leave(r, core)
						return
					}
				}
			},
			"release": func(t *rapid.T) {
				h := Holder{message.ShardID{Ordinal: 99}, 1000} // of none
				if len(w.all) > 0 {
					r := rapid.SampledFrom(w.all).Draw(t, "which")
					h = r.holder
					w.release(r)
				}
				c.Release(h)
				if left := c.Of(h); len(left) > 0 || !c.Whole(h) {
					t.Fatalf("%v has %v after its release", h, left)
				}
			},
			"": func(t *rapid.T) {
				free, seats := 0, 0
				for core := range c.Total() {
					switch on := w.beside(core, 0); {
					case len(on) == 0:
						free++
					case on[0].Tenancy == message.TenancyLight:
						seats += message.CoreSeats - len(on)
					}
				}
				if c.Free() != free || c.Seats() != seats {
					t.Fatalf("%d cores and %d seats are free, want %d and %d", c.Free(), c.Seats(), free, seats)
				}
				for _, r := range w.all {
					if got := c.Of(r.holder); !slices.Equal(got, r.cores) || c.Whole(r.holder) != (len(r.cores) == r.Cores) {
						t.Fatalf("%v has %v, whole %v; want %v of %d", r.holder, got, c.Whole(r.holder), r.cores, r.Cores)
					}
				}
				c.Rests(func(what string, n, _ int) {
					if n > 0 && len(w.all) == 0 {
						t.Fatalf("%s: %d, without an execution", what, n)
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
		c.Reserve(Holder{s, 1}, Want{Cores: 2})
		if tc.what == "another successor" {
			c.Reserve(Holder{s, 2}, Want{Cores: 1})
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s reserves cores", tc.what)
				}
			}()
			c.Reserve(tc.again, Want{Cores: 1})
		}()
	}
}

// Light shards of any jobs fill the seats of a core; the next one takes another core.
func TestACoreHasSeats(t *testing.T) {
	c := New(1)
	for i := range uint64(message.CoreSeats + 1) {
		h := Holder{message.ShardID{Job: message.JobID{byte(i)}}, i + 1}
		if fits := c.Reserve(h, Want{1, message.TenancyLight}); fits != (i < message.CoreSeats) {
			t.Errorf("shard %d fits: %v; the ninth does not", i+1, fits)
		}
	}
}
