package lab

import (
	"time"

	"hyperscale/core/node"
)

// dagor is the admission control of WeChat (SoCC 2018). Callers know the level of the server
// that they call next, and drop what it would refuse. In its favour it drops at dequeue what is
// late, unless it is bare.
type dagor struct {
	plain
	bare     bool
	seen     [int(node.Priorities) * users]int // requests of this window by priority
	arrived  int
	admitted int
	level    int // admits priorities up to it
	waited   time.Duration
	begun    int
	closes   node.Instant
}

const (
	dagorWait     = 20 * time.Millisecond
	dagorWindow   = time.Second
	dagorRequests = 2000
)

func newDagor() *dagor {
	return &dagor{level: int(node.Priorities)*users - 1, closes: node.Instant(dagorWindow)}
}

// passes counts a request and decides on it, for the server or its caller.
func (d *dagor) passes(now node.Instant, r *request) bool {
	if now >= d.closes || d.arrived >= dagorRequests {
		d.adjust(now)
	}
	priority := int(r.class)*users + int(r.user)
	d.seen[priority]++
	d.arrived++
	if priority > d.level {
		return false
	}
	d.admitted++
	return true
}

func (d *dagor) admit(now node.Instant, r *request) bool {
	return r.stage > 0 || d.passes(now, r) // a caller has asked for the other stages
}

func (d *dagor) begin(now node.Instant, r *request) bool {
	d.waited += now.Sub(r.reached[r.stage])
	d.begun++
	return d.bare || now < r.deadline
}

// adjust sets the level to the priorities that made up the wanted number of requests.
func (d *dagor) adjust(now node.Instant) {
	want := d.admitted + d.arrived/100
	if d.begun > 0 && d.waited/time.Duration(d.begun) > dagorWait {
		want = d.admitted * 95 / 100
	}
	sum := 0
	d.level = len(d.seen) - 1
	for p, n := range d.seen {
		if sum += n; sum > want {
			d.level = max(0, p-1)
			break
		}
	}
	clear(d.seen[:])
	d.arrived, d.admitted, d.waited, d.begun = 0, 0, 0, 0
	d.closes = now.Add(dagorWindow)
}
