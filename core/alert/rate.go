package alert

import (
	"time"

	"hyperscale/core/node"
)

// ratePeriod is how long a Rate counts for one reading.
const ratePeriod = 10 * time.Second

// Rate reads how often something happens: met above so many a second, gone below half of that.
type Rate struct {
	PerSecond int

	count int
	begun node.Instant
	last  Reading
	seen  int // a second, in the last whole period
}

// Add counts once.
func (r *Rate) Add() { r.count++ }

// Read returns the reading of the last whole period.
func (r *Rate) Read(now node.Instant) Reading {
	if r.begun == 0 {
		r.begun, r.last = now, Calm
	}
	if passed := now.Sub(r.begun); passed >= ratePeriod {
		most := int(passed/time.Millisecond) * r.PerSecond / 1000
		r.last = Of(r.count, most+1, most/2)
		r.seen = r.count * 1000 / int(passed/time.Millisecond)
		r.count, r.begun = 0, now
	}
	return r.last
}

// Seen returns how often it happened a second, in the last whole period.
func (r *Rate) Seen() int { return r.seen }
