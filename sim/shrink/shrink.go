package shrink

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/sim"
)

// Run is the run to shrink.
type Run struct {
	Faults []sim.Fault
	// Broken is when it failed: a replay can stop there. Zero: only its end shows the failure.
	Broken time.Duration
}

// Options say how to judge runs.
type Options struct {
	// Fails plays faults for as long as the first run, and says whether that fails in the same
	// way, and when; zero: only at the end.
	Fails func([]sim.Fault) (broken time.Duration, fails bool)
	// Stop ends the search, which returns its best run so far. Nil: never.
	Stop func() bool
	// Progress is called with each simpler run that still fails; it may be nil.
	Progress func(r Run, plays int)
}

// shrinker is one search.
type shrinker struct {
	Options
	best  Run
	known map[string]bool // runs that were played and did not fail
	plays int
}

// Shrink returns the simplest failing run that it found, and how many runs it played.
func Shrink(r Run, o Options) (Run, int) {
	s := &shrinker{Options: o, best: r, known: map[string]bool{}}
	s.cut()
	for {
		before := len(s.best.Faults)
		s.drop()
		simpler := s.simplify()
		if s.stopped() || !simpler && len(s.best.Faults) == before {
			return s.best, s.plays
		}
	}
}

func (s *shrinker) stopped() bool { return s.Stop != nil && s.Stop() }

// cut drops the faults after the failure.
func (s *shrinker) cut() {
	early := slices.DeleteFunc(slices.Clone(s.best.Faults), func(f sim.Fault) bool { return f.At > s.best.Broken })
	if s.best.Broken > 0 && len(early) < len(s.best.Faults) {
		s.try(early)
	}
}

// try plays a run that is simpler than the best one. If it fails, it becomes the best one.
func (s *shrinker) try(faults []sim.Fault) bool {
	key := keyOf(faults)
	if s.known[key] || s.stopped() {
		return false
	}
	s.known[key] = true
	s.plays++
	broken, fails := s.Fails(faults)
	if !fails {
		return false
	}
	s.best = Run{faults, broken}
	if s.Progress != nil {
		s.Progress(s.best, s.plays)
	}
	s.cut()
	return true
}

func keyOf(faults []sim.Fault) string {
	var b strings.Builder
	for i := range faults {
		fmt.Fprintf(&b, "%+v\n", faults[i])
	}
	return b.String()
}

// drop removes ever smaller parts of the faults, down to single ones.
func (s *shrinker) drop() {
	if len(s.best.Faults) > 0 && s.try([]sim.Fault{}) {
		return
	}
	for size := (len(s.best.Faults) + 1) / 2; size > 0 && !s.stopped(); {
		if !s.dropParts(size) && size == 1 {
			return
		}
		size = min(max(1, size/2), max(1, len(s.best.Faults)/2))
		if len(s.best.Faults) <= 1 {
			return
		}
	}
}

// dropParts tries to remove parts of a size, the last ones first: late faults are seldom the
// cause. It says whether it removed any.
func (s *shrinker) dropParts(size int) bool {
	dropped := false
	for end := len(s.best.Faults); end > 0 && !s.stopped(); end -= size {
		end = min(end, len(s.best.Faults)) // a cut may have shortened them
		if end == 0 {
			break
		}
		rest := slices.Delete(slices.Clone(s.best.Faults), max(0, end-size), end)
		if s.try(rest) {
			dropped = true
		}
	}
	return dropped
}

// simplify makes each fault simpler, as long as that works, and says whether it did.
func (s *shrinker) simplify() bool {
	any := false
	for i := 0; i < len(s.best.Faults) && !s.stopped(); i++ {
		for again := true; again && !s.stopped(); {
			again = false
			if i >= len(s.best.Faults) {
				break // a cut has shortened them
			}
			for _, f := range simpler(&s.best.Faults[i]) {
				faults := slices.Clone(s.best.Faults)
				faults[i] = f
				if s.try(faults) {
					any, again = true, true
					break
				}
			}
		}
	}
	return any
}
