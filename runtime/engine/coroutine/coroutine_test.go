package coroutine

import (
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// steps is a body that blocks so many times, and records each step.
type steps struct {
	co     *Coroutine
	blocks int
	done   int
}

func (s *steps) Run() {
	for range s.blocks {
		s.done++
		s.co.Block(WantTurn)
	}
	s.done++
}

// In any order of begins and resumptions each body continues where it stopped, and a coroutine
// has one at a time.
func TestBodiesAlternate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Pool
		defer p.Close()
		var under []*steps
		resume := func(i int) {
			s := under[i]
			before := s.done
			want := p.Resume(s.co)
			if s.done != before+1 || (want == WantNothing) != (s.done == s.blocks+1) {
				t.Fatalf("of %d blocks it has done %d steps after %d, and wants %d", s.blocks, s.done, before, want)
			}
			if want == WantNothing {
				under = slices.Delete(under, i, i+1)
			}
		}
		for _, begins := range rapid.SliceOf(rapid.Bool()).Draw(t, "begins") {
			if begins {
				s := &steps{blocks: rapid.IntRange(0, 3).Draw(t, "blocks")}
				s.co = p.Take(s)
				for _, other := range under {
					if other.co == s.co {
						t.Fatal("a coroutine has two bodies")
					}
				}
				under = append(under, s)
			} else if len(under) > 0 {
				resume(rapid.IntRange(0, len(under)-1).Draw(t, "which"))
			}
		}
		for len(under) > 0 {
			resume(0)
		}
	})
}

// A pool keeps 1,024 stacks, and reusing one allocates nothing.
func TestIdleCoroutinesAreKept(t *testing.T) {
	var p Pool
	defer p.Close()
	var all []*steps
	for range idleStacks + 10 {
		s := &steps{}
		s.co = p.Take(s)
		all = append(all, s)
	}
	for _, s := range all {
		p.Resume(s.co)
	}
	if len(p.idle) != idleStacks || len(p.bare) != 10 {
		t.Errorf("%d are idle and %d have no stack, want %d and 10", len(p.idle), len(p.bare), idleStacks)
	}
	s := &steps{blocks: 2}
	if n := testing.AllocsPerRun(1000, func() {
		s.co = p.Take(s)
		for p.Resume(s.co) != WantNothing {
		}
	}); n != 0 {
		t.Errorf("%v allocations a body, want 0", n)
	}
	for range idleStacks + 1 { // those without a stack get a new one
		s := &steps{}
		s.co = p.Take(s)
		all = append(all, s)
	}
	if len(p.bare) != 9 {
		t.Errorf("%d have no stack, want 9", len(p.bare))
	}
	for _, s := range all[idleStacks+10:] {
		p.Resume(s.co)
	}
}
