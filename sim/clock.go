package sim

import (
	"time"

	"hyperscale/core/node"
)

const million = 1_000_000

// ClockStart is what clocks read when a world begins, but for their offsets.
const ClockStart = time.Hour

// DriftBound is how wrong a clock may run for protocols that count on a bound, in
// parts per million: one in a hundred.
const DriftBound = 10_000

// driftBound is the fastest a clock may run wrong, in parts per million: a tenth.
const driftBound = 100_000

// clock is one node's: it starts at an offset and drifts.
type clock struct {
	since time.Duration // of the world, when ppm last changed
	local node.Instant  // reading then
	ppm   int64
}

// scale returns d * num / den rounded down, without overflow for num and den
// near a million.
func scale(d time.Duration, num, den int64) time.Duration {
	n := int64(d)
	return time.Duration(n/den*num + n%den*num/den)
}

// at reads the clock at a time of the world.
func (c *clock) at(now time.Duration) node.Instant {
	passed := now - c.since
	if c.ppm != 0 {
		passed = scale(passed, million+c.ppm, million)
	}
	return c.local.Add(passed)
}

// when returns the first time of the world at which the clock shows i or later,
// not before now.
func (c *clock) when(i node.Instant, now time.Duration) time.Duration {
	d := i.Sub(c.local)
	if c.ppm != 0 {
		d = scale(d, million, million+c.ppm)
	}
	t := max(now, c.since+d)
	for c.at(t) < i {
		t++
	}
	return t
}

// bend changes the drift from now on. The reading does not jump.
func (c *clock) bend(now time.Duration, ppm int64) {
	c.local, c.since, c.ppm = c.at(now), now, ppm
}
