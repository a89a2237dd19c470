package measure

import (
	"time"

	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Bounds beyond which the figures are the generator's as much as the target's.
const (
	busyMost  = 950_000 // millionths of a second in which the loop was not idle
	takenMost = 50_000  // millionths of a second, taken by others, that explain late starts and a busy loop
	lagMost   = 5 * time.Millisecond
	lagRank   = 990_000 // the quantile of lagMost
	lateLeast = 10      // starts later than lagMost: a p99 of 16 starts is their maximum
)

// judgedLeast is the shortest run that can count as busy: an iteration of a millisecond only
// works, and saturates nothing.
const judgedLeast = 100 * time.Millisecond

// stealEvery is how often the machine is read: its file is long where there are many cores.
const stealEvery = 10 * time.Second

// Generator measures how well the engine generates the load.
type Generator struct {
	Lag     stats.Histogram
	machine machine
	second  time.Duration // when the current second began
	Idle    time.Duration // of the current second

	busyMax, waitMax uint32
	full, starved    bool // of a second without rest: by own work, or as others had the core
}

// NewGenerator watches a loop from now on.
func NewGenerator(now time.Duration) Generator {
	g := Generator{machine: watchMachine(), second: now}
	g.machine.read = now
	return g
}

// Turn ends a second that is over. Finish judges a run shorter than a second as a whole.
func (g *Generator) Turn(now time.Duration) {
	if now-g.second >= time.Second {
		g.judge(now)
		g.machine.turn(now)
	}
}

func (g *Generator) Finish(now time.Duration) {
	if g.busyMax == 0 && now > g.second {
		g.judge(now)
	}
	g.machine.finish()
}

func (g *Generator) judge(now time.Duration) {
	took := now - g.second
	length := max(took, judgedLeast)
	busy := uint32(max(0, took-g.Idle) * 1_000_000 / length)
	wait := uint32(g.machine.waited(took) * 1_000_000 / length)
	g.busyMax, g.waitMax = max(g.busyMax, busy), max(g.waitMax, wait)
	if busy > busyMost {
		own := wait <= takenMost
		g.full, g.starved = g.full || own, g.starved || !own
	}
	g.second, g.Idle = now, 0
}

// late says whether 1 % of the starts, and enough of them to say so, were late.
func (g *Generator) late() bool {
	n := g.Lag.Count()
	if n <= lateLeast {
		return false
	}
	rank := min(lagRank, uint32((n-lateLeast)*1_000_000/n))
	return time.Duration(g.Lag.Quantile(rank)) > lagMost
}

func (g *Generator) Message(d schedule.Figures) message.Generator {
	late, steal := g.late(), g.machine.stealMax > takenMost
	taken := g.waitMax > takenMost && !g.full
	return message.Generator{
		Lag: g.Lag.Wire(), BusyMax: g.busyMax, WaitMax: g.waitMax, StealMax: g.machine.stealMax,
		Saturated: g.full, Starved: g.starved || steal && g.full || late && (taken || steal), Late: late,
		Begun: d.Begun, Waited: d.Waited, Dropped: d.Lost, Missed: d.Missed, Held: d.Held,
	}
}
