package health

import "time"

// Signals are what one node knows of another one: whether it is heard, whether it takes new work,
// and whether the work that it has moves.
type Signals struct {
	Alive    bool
	Ready    bool
	Progress WatchState
}

// Decision is what a node does about new work for another one. It frees no work that the other one
// has: clocks alone do that.
type Decision uint8

// The decisions, from the best.
const (
	Route       Decision = iota // it gets new work
	Investigate                 // it gets new work if no peer is routed to
	Drain                       // it gets new work if no peer is better
	Hold                        // it gets no new work
	Evict                       // the same, and it counts as lost
)

func (d Decision) String() string {
	return [...]string{"route", "investigate", "drain", "hold", "evict"}[min(d, Evict)]
}

// Decide returns the decision of the first signal that is bad.
//
//	alive  ready  progress         decision
//	no     -      -                evict
//	yes    no     -                hold
//	yes    yes    stuck            drain
//	yes    yes    less than moving investigate
//	yes    yes    moving           route
func Decide(s Signals) Decision {
	switch {
	case !s.Alive:
		return Evict
	case !s.Ready:
		return Hold
	case s.Progress >= Stuck:
		return Drain
	case s.Progress > Moving:
		return Investigate
	}
	return Route
}

// Takes says whether a peer gets new work, if none has a better decision.
func (d Decision) Takes() bool { return d <= Drain }

// Bounds of the wait of work that could begin.
const (
	StalledAfter = 10 * time.Second
	StuckAfter   = 30 * time.Second
)

// OfWait judges how long work waits although nothing that it needs is missing. Work that waits for
// room waits for something.
func OfWait(d time.Duration) WatchState {
	switch {
	case d >= StuckAfter:
		return Stuck
	case d >= StalledAfter:
		return Stalled
	}
	return Moving
}
