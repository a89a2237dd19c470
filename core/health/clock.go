package health

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// Sample is an answered probe: our own clock when we sent it and when the answer arrived, and
// the uptime that the peer's clock had counted in between.
type Sample struct {
	Sent, Received node.Instant
	Uptime         time.Duration
}

// ClockConfig configures the comparison.
type ClockConfig struct {
	// BoundPPM is how much faster or slower than ours a peer's clock may run, in
	// parts per million: twice what each may drift.
	BoundPPM int64
	// JumpMin is the excess within one pair of samples that counts as a jump, not as drift.
	JumpMin time.Duration
	// Window of the longer comparison, which finds slow drift.
	Window time.Duration
	// Quiet is how long Clocks reports no further finding on one peer.
	Quiet time.Duration
	// PeersMax bounds the peers whose samples it holds.
	PeersMax int
}

// DefaultClock suits clocks that each drift by 1 % at most.
func DefaultClock() ClockConfig {
	return ClockConfig{BoundPPM: 20_000, JumpMin: 500 * time.Millisecond, Window: 2 * time.Minute, Quiet: time.Minute, PeersMax: 20_000}
}

// Finding is the result of a comparison.
type Finding struct {
	PPM  int64 // how much faster the peer's clock is; negative: slower
	Jump bool
}

// Clocks compares this node's clock with its peers'.
type Clocks struct {
	config ClockConfig
	tracks map[node.ID]*track
}

// track holds the samples of one incarnation of a peer.
type track struct {
	run    uint64
	anchor Sample // of the longer comparison
	next   Sample // the next anchor, about half a window younger
	last   Sample
	quiet  node.Instant
}

// NewClocks returns a comparison without peers.
func NewClocks(c ClockConfig) *Clocks {
	if c.BoundPPM <= 0 || c.BoundPPM >= million || c.JumpMin <= 0 || c.Window <= 0 || c.Quiet < 0 || c.PeersMax < 1 {
		node.Bug("health: clocks within %d ppm, jump %v, window %v, quiet %v, %d peers: start from health.DefaultClock",
			c.BoundPPM, c.JumpMin, c.Window, c.Quiet, c.PeersMax)
	}
	return &Clocks{config: c, tracks: map[node.ID]*track{}}
}

const million = 1_000_000

// Observe takes a sample of a peer's incarnation, and reports what is wrong with one of the two
// clocks.
func (c *Clocks) Observe(env node.Env, id node.ID, run uint64, s Sample) (Finding, bool) {
	if s.Received < s.Sent || s.Uptime < 0 {
		return Finding{}, false
	}
	t := c.tracks[id]
	if t == nil && len(c.tracks) >= c.config.PeersMax {
		return Finding{}, false
	}
	if t == nil || t.run != run || c.beganAnew(t, s) {
		c.tracks[id] = &track{run: run, anchor: s, next: s, last: s}
		return Finding{}, false
	}
	f, found := c.compare(t, s)
	t.last = s
	switch {
	case found:
		t.anchor, t.next = s, s
	case s.Received.Sub(t.next.Received) >= c.config.Window/2:
		t.anchor, t.next = t.next, s
	}
	if !found || env.Now() < t.quiet {
		return Finding{}, false
	}
	t.quiet = env.Now().Add(c.config.Quiet)
	env.Emit(event.ClockSuspect{Peer: id, PPM: f.PPM, Jump: f.Jump})
	return f, true
}

// beganAnew reports that a peer's uptime began after the last sample: it lost its disk, and counts
// its runs anew.
func (c *Clocks) beganAnew(t *track, s Sample) bool {
	most := s.Received.Sub(t.last.Sent)
	return s.Uptime < t.last.Uptime && s.Uptime <= most+portion(most, 2*c.config.BoundPPM)
}

// compare checks the last pair for a jump, and the longest one for drift.
func (c *Clocks) compare(t *track, s Sample) (Finding, bool) {
	if over := c.excess(t.last, s); over >= c.config.JumpMin || over <= -c.config.JumpMin {
		return Finding{rate(t.last, s), true}, true
	}
	if c.excess(t.anchor, s) != 0 {
		return Finding{rate(t.anchor, s), false}, true
	}
	return Finding{}, false
}

// uptimeGrain is the unit of an uptime on the wire: truncated, never rounded.
const uptimeGrain = time.Millisecond

// excess returns how much more (or, if negative, less) the peer's clock advanced than any clock
// within the bound can have; 0 if one can.
func (c *Clocks) excess(a, b Sample) time.Duration {
	gone := b.Uptime - a.Uptime
	most, least := b.Received.Sub(a.Sent), max(0, b.Sent.Sub(a.Received))
	// One clock slower by r and one faster: (1+r)/(1-r), a little more than 1 + 2r.
	bound := c.config.BoundPPM
	most += portion(most, bound+(bound*bound/2+million-bound/2-1)/(million-bound/2)) + uptimeGrain
	least -= portion(least, bound) + uptimeGrain
	switch {
	case gone > most:
		return gone - most
	case gone < least:
		return gone - least
	}
	return 0
}

// portion returns ppm parts per million of d, rounded up.
func portion(d time.Duration, ppm int64) time.Duration {
	return d/million*time.Duration(ppm) + (d%million*time.Duration(ppm)+million-1)/million
}

// rate returns the best estimate of how much faster the peer's clock ran: it takes readings to
// be in the middle of their round trips.
func rate(a, b Sample) int64 {
	ours := (b.Received.Sub(a.Received) + b.Sent.Sub(a.Sent)) / 2
	if ours <= 0 {
		return 0
	}
	more := (b.Uptime - a.Uptime) - ours
	if limit := time.Duration(1) << 42; more > limit || more < -limit { // hours: the product would not fit
		return int64(more / max(1, ours/million))
	}
	return int64(more * million / ours)
}

// Forget drops a peer that has left.
func (c *Clocks) Forget(id node.ID) { delete(c.tracks, id) }

// Sizes reports how many peers it holds.
func (c *Clocks) Sizes(tell node.Tell) { tell("health/clocks", len(c.tracks), c.config.PeersMax) }
