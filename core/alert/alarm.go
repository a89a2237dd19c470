package alert

import (
	"time"

	"hyperscale/core/node"
)

// Reading is what a node measures of an alert's condition.
type Reading uint8

// The readings.
const (
	Unknown Reading = iota // the node cannot judge now
	Calm                   // the condition is gone
	Between                // of the condition's two thresholds
	Met                    // the condition holds
)

// Of reads a value against two thresholds: met from the first on, gone below the second.
func Of(value, met, gone int) Reading {
	switch {
	case value >= met:
		return Met
	case value < gone:
		return Calm
	}
	return Between
}

// Whether reads a condition without a second threshold.
func Whether(met bool) Reading {
	if met {
		return Met
	}
	return Calm
}

// alarm is the state of one alert.
type alarm struct {
	on      bool
	against bool         // the last readings contradict on
	since   node.Instant // when the first of them came
}

// see takes a reading and says whether the state has changed.
func (a *alarm) see(now node.Instant, r Reading, raise, lower time.Duration) bool {
	if contradicts := r == Met && !a.on || r == Calm && a.on; !contradicts {
		a.against = false
		return false
	}
	if !a.against {
		a.against, a.since = true, now
	}
	long := raise
	if a.on {
		long = lower
	}
	if now.Sub(a.since) < long {
		return false
	}
	a.on, a.against = !a.on, false
	return true
}
