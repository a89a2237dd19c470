package measure

import (
	"time"

	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Bounds beyond which the generator, not the target, was the bottleneck.
const (
	busyMost = 950_000 // millionths of a second's time
	lagMost  = 5 * time.Millisecond
	lagRank  = 990_000 // the quantile of lagMost
)

// judgedLeast is the shortest run that can count as busy: an iteration of a millisecond only
// works, and saturates nothing.
const judgedLeast = 100 * time.Millisecond

// Generator measures how well the engine generates the load.
type Generator struct {
	Lag     stats.Histogram
	busyMax uint32
	second  time.Duration // when the current second began
	Idle    time.Duration // of the current second
}

// Turn ends a second that is over. Finish judges a run shorter than a second as a whole.
func (g *Generator) Turn(now time.Duration) {
	if now-g.second >= time.Second {
		g.judge(now)
	}
}

func (g *Generator) Finish(now time.Duration) {
	if g.busyMax == 0 && now > g.second {
		g.judge(now)
	}
}

func (g *Generator) judge(now time.Duration) {
	busy := max(0, now-g.second-g.Idle)
	length := max(now-g.second, judgedLeast)
	g.busyMax = max(g.busyMax, uint32(busy*1_000_000/length))
	g.second, g.Idle = now, 0
}

func (g *Generator) Message(d schedule.Figures) message.Generator {
	return message.Generator{
		Lag: g.Lag.Wire(), BusyMax: g.busyMax,
		Saturated: g.busyMax > busyMost || time.Duration(g.Lag.Quantile(lagRank)) > lagMost,
		Begun:     d.Begun, Waited: d.Waited, Dropped: d.Lost,
	}
}
