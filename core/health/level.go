package health

import "time"

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

// OfMultiplier returns the level of local health, 0 to 8.
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

// OfLag returns the level of a loop's lag.
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

// Of returns the worse of both levels.
func Of(multiplier int, lag time.Duration) Level { return max(OfMultiplier(multiplier), OfLag(lag)) }
