package health

import (
	"time"

	"hyperscale/core/node"
)

// Level is how degraded a node is.
type Level uint8

// The levels.
const (
	Normal Level = iota
	Elevated
	High
	Severe
	Critical
)

func (l Level) String() string {
	return [...]string{"normal", "elevated", "high", "severe", "critical"}[min(l, Critical)]
}

// OfMultiplier is the level of local health, 0 to 8.
func OfMultiplier(n int) Level {
	switch {
	case n < 2:
		return Normal
	case n < 4:
		return Elevated
	case n < 6:
		return High
	case n < 7:
		return Severe
	}
	return Critical
}

// OfLag is the level of a loop's lag.
func OfLag(d time.Duration) Level {
	switch {
	case d < 500*time.Millisecond:
		return Normal
	case d < time.Second:
		return Elevated
	case d < 2*time.Second:
		return High
	case d < 4*time.Second:
		return Severe
	}
	return Critical
}

// Of is the worse of both.
func Of(multiplier int, lag time.Duration) Level { return max(OfMultiplier(multiplier), OfLag(lag)) }

// Quarters is the factor of timeouts, in quarters: 1, 1.25, 1.5, 2, 3.
func (l Level) Quarters() int { return [...]int{4, 5, 6, 8, 12}[min(l, Critical)] }

// Stretch lengthens a timeout.
func (l Level) Stretch(d time.Duration) time.Duration { return d * time.Duration(l.Quarters()) / 4 }

// Skips draws whether one optional probe is left out: none, none, a quarter, half,
// all.
func (l Level) Skips(r *node.Rand) bool {
	share := [...]uint64{0, 0, 1, 2, 4}[min(l, Critical)]
	return share > 0 && r.Chance(share, 4)
}
