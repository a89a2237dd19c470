package netsim

import (
	"slices"
	"time"

	"hyperscale/core/node"
)

// Host is a node's number in the network, from zero in the order of Add.
type Host uint32

// Delivery says how often a datagram arrives, and when.
type Delivery struct {
	Count int
	At    [2]time.Duration
	Late  [2]bool // that copy is held until then
	Rule  *Rule   // the rule that held it; nil for none
}

// Network holds the place of each host, and the faults on the links between them.
type Network struct {
	config Config
	rand   *node.Rand
	places []string
	ways   []way           // between places: [from*len(places)+to]
	hosts  []int           // the place of each
	free   []time.Duration // [host*len(places)+to]: when the bytes that it sent there will have left
	rules  []*Rule
}

// way is a Link with precomputed values.
type way struct {
	Link
	picos uint64 // time that a byte takes
	to    int    // place
	late  *Rule  // the rule that makes datagrams late
}

// New returns a network without hosts; c must be valid.
func New(c Config, r *node.Rand) *Network {
	if err := c.Validate(); err != nil {
		node.Bug("netsim: %v", err)
	}
	return &Network{config: c, rand: r}
}

// Add puts a new host in a place.
func (n *Network) Add(place string) Host {
	p := slices.Index(n.places, place)
	if p < 0 {
		p = len(n.places)
		n.places = append(n.places, place)
		n.lay()
		n.widen()
	}
	n.hosts = append(n.hosts, p)
	n.free = append(n.free, make([]time.Duration, len(n.places))...)
	return Host(len(n.hosts) - 1)
}

// widen makes room for each host's link to one more place.
func (n *Network) widen() {
	wide := make([]time.Duration, len(n.hosts)*len(n.places))
	old := len(n.places) - 1
	for h := range n.hosts {
		copy(wide[h*len(n.places):], n.free[h*old:(h+1)*old])
	}
	n.free = wide
}

// lay computes the links between all places again.
func (n *Network) lay() {
	n.ways = n.ways[:0]
	for _, from := range n.places {
		for to, name := range n.places {
			l := n.config.Far
			if from == name {
				l = n.config.Near
			}
			for _, p := range n.config.Pairs {
				if p.From == from && p.To == name {
					l = p.Link
				}
			}
			n.ways = append(n.ways, way{Link: l, picos: picosOf(l.Bandwidth), to: to})
		}
	}
}

// picosOf returns the time that a byte takes, in picoseconds.
func picosOf(bandwidth uint64) uint64 { return 1_000_000_000_000 / bandwidth }

// way returns the link between two hosts as the rules leave it now. The second result is false
// if a rule cuts it.
func (n *Network) way(now time.Duration, from, to Host, bent *way) (*way, bool) {
	w := &n.ways[n.hosts[from]*len(n.places)+n.hosts[to]]
	if len(n.rules) == 0 || from == to {
		return w, true
	}
	*bent = *w
	return bent, n.bend(bent, now, from, to)
}

// Passes says whether any message can get from one host to the other now.
func (n *Network) Passes(now time.Duration, from, to Host) bool {
	var bent way
	_, ok := n.way(now, from, to, &bent)
	return ok
}

// Datagram decides what happens to a datagram of size bytes.
func (n *Network) Datagram(now time.Duration, from, to Host, size int) (d Delivery) {
	var bent way
	w, ok := n.way(now, from, to, &bent)
	if !ok || n.chance(w.Loss) {
		return d
	}
	left := n.transmit(w, now, from, size)
	if left-now > n.config.QueueMax {
		return d
	}
	d.Count, d.At[0] = 1, left+n.travel(w)
	if n.chance(w.Reorder) {
		d.At[0] += n.rand.Duration(0, n.config.ReorderMax)
	}
	if n.chance(w.Duplicate) {
		d.Count, d.At[1] = 2, left+n.travel(w)
		if n.chance(w.Late) {
			n.hold(&d, 1, w)
		}
	}
	if n.chance(w.Late) {
		n.hold(&d, 0, w)
		if d.Count == 1 && w.late != nil && n.chance(w.late.Twice) {
			d.Count, d.At[1] = 2, left+n.travel(w)
			n.hold(&d, 1, w)
		}
	}
	return d
}

// hold makes a copy late.
func (n *Network) hold(d *Delivery, i int, w *way) {
	low, high := n.config.LateMin, n.config.LateMax
	if w.late != nil && w.late.LateMax > 0 {
		low, high = w.late.LateMin, w.late.LateMax
	}
	d.At[i] += n.rand.Duration(low, high)
	d.Late[i], d.Rule = true, w.late
}

// chance draws only if the outcome is open.
func (n *Network) chance(ppm uint32) bool {
	return ppm > 0 && n.rand.Chance(uint64(ppm), Million)
}

func (n *Network) travel(w *way) time.Duration {
	if w.Jitter <= 0 {
		return w.Latency
	}
	return w.Latency + time.Duration(n.rand.N(uint64(w.Jitter)+1))
}

// transmit says when the last byte has left a host, given its bandwidth.
func (n *Network) transmit(w *way, now time.Duration, from Host, size int) time.Duration {
	free := &n.free[int(from)*len(n.places)+w.to]
	*free = max(now, *free) + time.Duration(uint64(size)*w.picos/1000)
	return *free
}

// segment says when bytes of a stream arrive, and when the last of them has left: a loss costs the
// wait until the retransmission. It returns false if the link is cut.
func (n *Network) segment(now time.Duration, from, to Host, size int) (at, left time.Duration, ok bool) {
	var bent way
	w, ok := n.way(now, from, to, &bent)
	if !ok {
		return 0, 0, false
	}
	left = n.transmit(w, now, from, size)
	at = left + n.travel(w)
	for wait := n.config.RetryMin; n.chance(w.Loss) && wait <= n.config.StallMax; wait *= 2 {
		at += wait
	}
	return at, left, true
}
