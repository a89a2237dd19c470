package swim

import "time"

// health measures how well this node itself does. It stretches timeouts, and says what the
// node's silence proves.
type health struct {
	c          *Config
	multiplier int
	lag        time.Duration
	silence    int // consecutive rounds without an answer or a nack
}

// SetLag sets how late this node's loop is; the role calls it after each measurement.
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

// Lags that count against local health, once or twice.
const (
	lagMild   = 500 * time.Millisecond
	lagSevere = 2 * time.Second
)

// bump changes local health; 0 is best.
func (h *health) bump(by int) {
	if h.c.HealthProbe {
		h.multiplier = max(0, min(h.c.MultiplierMax, h.multiplier+by))
	}
}

// Multiplier returns local health; 0 is best.
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

// bounds returns the shortest and the longest time of a suspicion that begins now.
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

// aloneRounds is the number of rounds without an answer or a nack after which this node is more
// likely cut off than all others gone.
const aloneRounds = 3

func (h *health) alone() bool { return h.c.Distrust && h.silence >= aloneRounds }

// stopped reports that a timer fires so late that this node did not run meanwhile.
func (h *health) stopped(late time.Duration) bool {
	return h.c.LagBound > 0 && late > h.c.LagBound
}
