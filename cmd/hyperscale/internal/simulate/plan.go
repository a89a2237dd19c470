package simulate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"hyperscale/scenarios"
)

// plan decides which world a swarm plays next. It knows no journal and no clock.
type plan struct {
	worlds []*world
	// endless continues, after every world has its runs, as long as the budget has room.
	endless bool
}

// world is the plan's record of one world.
type world struct {
	scenario scenarios.Scenario
	owed     uint64 // runs that it has to begin
	next     uint64 // the seed to try next
	played   uint64 // runs that it has begun, by this program
	failed   int    // of them, and of the programs before
	took     cost
}

// cost is the real time of runs.
type cost struct {
	runs  uint64
	total time.Duration
	guess time.Duration // of the program before; zero: none
}

// add counts one run. A run of less than a millisecond costs one.
func (c *cost) add(took time.Duration) {
	c.runs++
	c.total += max(took, time.Millisecond)
}

// mean is the mean real time of a run; zero: unknown.
func (c *cost) mean() time.Duration {
	if c.runs == 0 {
		return c.guess
	}
	return c.total / time.Duration(c.runs)
}

// choose returns the world to play next, and counts the run; nil: none. left is the rest of the
// budget; negative: there is no budget.
func (p *plan) choose(left time.Duration) *world {
	w := p.owing()
	if w == nil && p.endless {
		w = p.deserving(left)
	}
	if w == nil {
		return nil
	}
	w.played++
	w.owed -= min(w.owed, 1)
	return w
}

// owing plays worlds in rounds, the slowest of a round first: a stop leaves all of them
// played about as often, and in the last round two cores end together.
func (p *plan) owing() *world {
	var found *world
	for _, w := range p.worlds {
		if w.owed > 0 && (found == nil || w.before(found)) {
			found = w
		}
	}
	return found
}

// before says whether w comes before o in a round: a world of unknown cost is taken for
// slow, by how long it lasts.
func (w *world) before(o *world) bool {
	if w.played != o.played {
		return w.played < o.played
	}
	a, b := w.took.mean(), o.took.mean()
	if (a == 0) != (b == 0) {
		return a == 0
	}
	if a != b {
		return a > b
	}
	return w.scenario.Virtual > o.scenario.Virtual
}

// deserving returns the world with the lowest count, weighted, that still fits into the
// budget: near its end the slow ones no longer begin, so that all cores end together.
func (p *plan) deserving(left time.Duration) *world {
	var found *world
	for _, w := range p.worlds {
		if left >= 0 && max(w.took.mean(), 1) > left { // a world of unknown cost takes some time
			continue
		}
		if found == nil || w.weighted() < found.weighted() {
			found = w
		}
	}
	return found
}

// failedMax bounds how many failures make a world be played more often.
const failedMax = 9

// weighted is how often a world was played, as the choice sees it. The square root of
// the cost lies between equal runs and equal time. A failure counts like one more world.
func (w *world) weighted() float64 {
	return float64(w.played) * math.Sqrt(float64(w.took.mean())) / float64(1+min(w.failed, failedMax))
}

// owed is how many runs the plan has to begin.
func (p *plan) owed() (n uint64) {
	for _, w := range p.worlds {
		n += w.owed
	}
	return n
}

// left guesses how long one core takes for all that is owed; false: no world has a cost.
func (p *plan) left() (time.Duration, bool) {
	var known, sum time.Duration
	var n int
	for _, w := range p.worlds {
		if m := w.took.mean(); m > 0 {
			known, n = known+m, n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	for _, w := range p.worlds {
		sum += cmp.Or(w.took.mean(), known/time.Duration(n)) * time.Duration(min(w.owed, math.MaxInt32))
	}
	return sum, true
}

// slowest are the worlds that cost most, of those that were measured.
func (p *plan) slowest(n int) []*world {
	measured := slices.DeleteFunc(slices.Clone(p.worlds), func(w *world) bool { return w.took.runs == 0 })
	slices.SortStableFunc(measured, func(a, b *world) int { return cmp.Compare(b.took.mean(), a.took.mean()) })
	return measured[:min(n, len(measured))]
}

// freshSeed is where the seeds begin that are drawn from a text. Two texts do not meet:
// there are a trillion.
func freshSeed(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return 1 + binary.BigEndian.Uint64(sum[:8])%1_000_000_000_000
}
