package budget

import (
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// Level is how near an executor is to its budget.
type Level uint8

// The levels, from the best.
const (
	Within    Level = iota
	Pressed         // people should know
	Throttled       // it begins no new virtual user, and collects more
	Over            // it is to be ended, unless it is below soon
	levelEnd
)

func (l Level) String() string {
	return [...]string{"within", "pressed", "throttled", "over"}[min(l, Over)]
}

// The bounds of the levels, in percent of the budget: where one begins, and below which it ends.
func begins() [levelEnd]uint64 { return [levelEnd]uint64{Pressed: 70, Throttled: 85, Over: 100} }
func ends() [levelEnd]uint64   { return [levelEnd]uint64{Pressed: 65, Throttled: 80, Over: 100} }

// OverFor is for how long an executor may be over its budget. Less would end one that collects its
// garbage just then. More would leave the machine without memory for longer.
const OverFor = 5 * time.Second

// atOnce is the percentage of a budget from which on an executor is ended at once.
const atOnce = 110

// Percent is a part of a budget. A budget has hundreds of bytes at least, so that the rounding does
// not matter.
func Percent(of, n uint64) uint64 { return of/100*n + of%100*n/100 }

// Gauge follows one executor.
type Gauge struct {
	declared  uint64 // by its workflow; zero: nothing
	now       message.ExecUsage
	level     Level
	over      time.Duration // for which the worker was awake, without a look below the budget
	fresh     bool          // it has come over since the last Pass
	since     node.Instant  // when it was throttled, while it is
	throttled time.Duration // in sum, before
	usage     message.Usage
}

// New returns the gauge of an executor whose workflow declares a budget, or none.
func New(declared uint64) Gauge { return Gauge{declared: declared} }

// Budget is what the executor may have; zero: no bound is known.
func (g *Gauge) Budget() uint64 {
	if g.declared > 0 && (g.now.MemoryMax == 0 || g.declared <= g.now.MemoryMax) {
		return g.declared
	}
	return g.now.MemoryMax
}

// Now is the last look.
func (g *Gauge) Now() *message.ExecUsage { return &g.now }

// Level is the level at the last look.
func (g *Gauge) Level() Level { return g.level }

// Look takes a look at the executor, and returns its level.
func (g *Gauge) Look(now node.Instant, u *message.ExecUsage) Level {
	g.now = *u
	budget, before := g.Budget(), g.level
	g.level = levelOf(before, u.Memory, budget)
	switch {
	case g.level < Over:
		g.over = 0
	case before < Over:
		g.fresh = true
	}
	switch {
	case g.level >= Throttled && before < Throttled:
		g.usage.Throttles++
		g.since = now
	case g.level < Throttled && before >= Throttled:
		g.throttled += now.Sub(g.since)
	}
	g.usage.Pressed = g.usage.Pressed || g.level >= Pressed
	g.usage.CPU = max(g.usage.CPU, u.CPU)
	g.usage = stats.AddUsage(g.usage, message.Usage{Memory: u.Memory, MemoryMax: budget})
	return g.level
}

// levelOf is the level after one, at a use.
func levelOf(before Level, used, budget uint64) Level {
	if budget == 0 {
		return Within
	}
	for l := Over; l > Within; l-- {
		bound := begins()[l]
		if before >= l {
			bound = ends()[l]
		}
		if used >= Percent(budget, bound) {
			return l
		}
	}
	return Within
}

// Pass notes for how long the worker was awake since the last Pass. Of an executor that has come over
// its budget since then, that time is too long.
func (g *Gauge) Pass(awake time.Duration) {
	if g.level == Over && !g.fresh {
		g.over += awake
	}
	g.fresh = false
}

// End notes that the executor is gone: what it had is free.
func (g *Gauge) End(now node.Instant) {
	g.usage = g.Usage(now)
	g.throttled = g.usage.Throttled
	g.level, g.over = Within, 0
}

// Usage is what the executor has used until now.
func (g *Gauge) Usage(now node.Instant) message.Usage {
	u := g.usage
	if u.Throttled = g.throttled; g.level >= Throttled {
		u.Throttled += now.Sub(g.since)
	}
	return u
}

// OverError is why an executor is ended that is over its budget.
type OverError struct {
	Used, Budget uint64
	Declared     bool          // by its workflow; else the worker lets it have no more
	For          time.Duration // for which it was over; zero: it was so far over that this does not count
}

func (e *OverError) Error() string {
	text := fmt.Sprintf("used %s of memory, %d %% of its budget of %s", size(e.Used), e.Used/max(1, e.Budget/100), size(e.Budget))
	if e.For > 0 {
		text += fmt.Sprintf(", and was over it for %v", e.For)
	}
	if e.Declared {
		return text + ": give the workflow more cores, smaller bodies or fewer virtual users, or raise its memory = \"...\""
	}
	return text + ": give the workflow more cores, smaller bodies or fewer virtual users, or let executors have more (run: --executor-memory, worker: --set exec.memory_max=...)"
}

// Spent says why the executor must be ended, nil if it need not.
func (g *Gauge) Spent() error {
	budget := g.Budget()
	e := &OverError{Used: g.now.Memory, Budget: budget, Declared: budget == g.declared}
	switch {
	case budget == 0 || g.level < Over:
		return nil
	case g.now.Memory >= Percent(budget, atOnce):
		return e
	case g.over >= OverFor:
		e.For = g.over
		return e
	}
	return nil
}

// size writes a number of bytes for people, in whole units of at least three digits where it has
// that many.
func size(n uint64) string {
	for _, u := range []struct {
		shift uint
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if whole := n >> u.shift; whole > 0 {
			tenths := (n >> (u.shift - 10) & 1023) * 10 >> 10
			if tenths == 0 || whole >= 100 {
				return fmt.Sprintf("%d %s", whole, u.name)
			}
			return fmt.Sprintf("%d.%d %s", whole, tenths, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
