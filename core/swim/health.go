package swim

import "time"

// health is how well this node itself does: it stretches its timeouts, and weighs what
// its silence proves.
type health struct {
	c          *Config
	multiplier int
	lag        time.Duration
	silence    int // rounds in a row without an answer or a nack
}

// SetLag says how late this node's loop is; the role calls it as often as it
// measures.
func (h *health) SetLag(d time.Duration) {
	was := h.lag
	h.lag = d
	switch {
	case d >= lagSevere:
		h.bump(2)
	case d >= lagMild:
		h.bump(1)
	case was >= lagMild:
		h.bump(-1)
	}
}

// Lags that count against local health: once, or twice.
const (
	lagMild   = 500 * time.Millisecond
	lagSevere = 2 * time.Second
)

// bump moves local health, 0 at best.
func (h *health) bump(by int) {
	if h.c.HealthProbe {
		h.multiplier = max(0, min(h.c.MultiplierMax, h.multiplier+by))
	}
}

// Multiplier is local health: 0 at best.
func (h *health) Multiplier() int { return h.multiplier }

// scaled stretches a time by local health.
func (h *health) scaled(d time.Duration) time.Duration {
	if !h.c.HealthProbe {
		return d
	}
	if h.c.Scaling == ScalePaper {
		return d * time.Duration(1+h.multiplier)
	}
	return d * time.Duration(max(4+h.multiplier, lagQuarters(h.lag))) / 4
}

// bounds returns the least and the longest time of a suspicion that begins now.
func (h *health) bounds(live int) (low, high time.Duration) {
	c := h.c
	low = c.ProbeInterval / 1000 * time.Duration(int64(c.SuspicionFactor)*log10Milli(live))
	if c.HealthStretch {
		low = h.scaled(low)
	}
	if !c.HealthSuspicion {
		return low, low
	}
	high = low * time.Duration(c.SuspicionSpread)
	if c.SuspicionCap > 0 {
		high = max(low, min(high, c.SuspicionCap))
	}
	return low, high
}

// aloneRounds without an answer or a nack: then it is more likely that this node is
// cut off than that everybody else is gone.
const aloneRounds = 3

func (h *health) alone() bool { return h.c.Distrust && h.silence >= aloneRounds }

// stopped says that a timer fires so late that this node did not run meanwhile.
func (h *health) stopped(late time.Duration) bool {
	return h.c.LagBound > 0 && late > h.c.LagBound
}
