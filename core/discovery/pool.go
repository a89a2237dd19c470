package discovery

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/node"
)

// PoolConfig configures a Pool.
type PoolConfig struct {
	Self    node.ID       // draws the order of peers that nothing is known of
	Explore time.Duration // bound of the time between two looks at another peer
	Urgent  time.Duration // the same while the preferred peer is slower than it was
	Hold    time.Duration // after a change, unless the preferred peer fails
	Penalty time.Duration // that a failure counts as
	Settle  time.Duration // a sample that is so much newer than the last one counts twice as much
}

// DefaultPool returns the times; Self is left to set.
func DefaultPool() PoolConfig {
	return PoolConfig{Explore: 10 * time.Second, Urgent: time.Second, Hold: 5 * time.Second, Penalty: 10 * time.Second, Settle: 2 * time.Second}
}

// Figures of a Pool, in thousandths.
const (
	whole  = 1000
	weight = 200  // of a sample in the average
	gain   = 750  // another peer must need less than this share of the preferred one's time
	slower = 2000 // of its least time: then the preferred peer is slower than it was
)

// Pool prefers, among peers that answer the same, the one that answers fastest. It says whom to ask and
// whom to measure beside that one, and takes how long it took. It asks nothing.
type Pool struct {
	config  PoolConfig
	peers   []*peer // in the order in which this node asks peers that nothing is known of
	current *peer
	since   node.Instant // when it became current
	due     node.Instant // when to measure another peer
}

// peer is what a pool knows of one.
type peer struct {
	addr    node.Addr
	average time.Duration // of answers and failures; 0: nothing is known
	least   time.Duration // of the averages since it became preferred
	at      node.Instant  // of the newest sample
	failing bool          // the newest sample is a failure
}

// NewPool returns a pool without peers.
func NewPool(c PoolConfig) *Pool {
	if c.Explore <= 0 || c.Urgent <= 0 || c.Hold < 0 || c.Penalty <= 0 || c.Settle <= 0 {
		node.Bug("discovery: pool %+v", c)
	}
	return &Pool{config: c}
}

// Set replaces the peers. Those that remain keep what is known of them. Each node has its own order,
// by rendezvous: a peer that leaves moves only the nodes that asked it.
func (p *Pool) Set(addrs []node.Addr) {
	var peers []*peer
	for _, a := range addrs {
		if slices.ContainsFunc(peers, func(k *peer) bool { return k.addr == a }) {
			continue
		}
		k := p.of(a)
		if k == nil {
			k = &peer{addr: a}
		}
		peers = append(peers, k)
	}
	slices.SortFunc(peers, func(a, b *peer) int {
		return cmp.Or(cmp.Compare(p.draw(b), p.draw(a)), cmp.Compare(a.addr, b.addr))
	})
	if p.current != nil && !slices.Contains(peers, p.current) {
		p.current = nil
	}
	p.peers = peers
}

// draw is the rendezvous weight of a peer at this node.
func (p *Pool) draw(k *peer) uint64 {
	return node.MixString(node.MixString(0, string(p.config.Self)), string(k.addr))
}

func (p *Pool) of(a node.Addr) *peer {
	for _, k := range p.peers {
		if k.addr == a {
			return k
		}
	}
	return nil
}

// Preferred returns whom the pool prefers; empty while nothing is known.
func (p *Pool) Preferred() node.Addr {
	if p.current == nil {
		return ""
	}
	return p.current.addr
}

// Prefer begins with a peer, unless the pool prefers one.
func (p *Pool) Prefer(now node.Instant, a node.Addr) {
	if p.current == nil {
		p.become(now, p.of(a))
	}
}

// Order returns the peers in the order in which to ask them: the preferred one first, then the faster
// ones.
func (p *Pool) Order(now node.Instant) []node.Addr {
	if p.current == nil {
		p.become(now, p.best(nil))
	}
	order := slices.Clone(p.peers)
	slices.SortStableFunc(order, func(a, b *peer) int {
		if a == p.current || b == p.current {
			return cmp.Compare(other(p.current, a), other(p.current, b))
		}
		return compare(a, b)
	})
	all := make([]node.Addr, len(order))
	for i, k := range order {
		all[i] = k.addr
	}
	return all
}

func other(current, k *peer) int {
	if k == current {
		return 0
	}
	return 1
}

// compare puts the faster of two peers first, and one that nothing is known of behind.
func compare(a, b *peer) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.average, b.average))
}

func rank(k *peer) int {
	switch {
	case k.failing:
		return 2
	case k.average == 0:
		return 1
	}
	return 0
}

// Another returns a peer to measure beside the preferred one: of two that it draws, the one that was
// measured longest ago. It returns false if none is due.
func (p *Pool) Another(now node.Instant, r *node.Rand) (node.Addr, bool) {
	if p.due == 0 {
		p.due = now.Add(p.config.Urgent)
	}
	others := slices.DeleteFunc(slices.Clone(p.peers), func(k *peer) bool { return k == p.current })
	if p.current == nil || len(others) == 0 || now < p.due {
		return "", false
	}
	wait := p.config.Explore
	if p.current.average*whole > p.current.least*slower {
		wait = p.config.Urgent
	}
	p.due = now.Add(r.Duration(wait/2, wait))
	one := r.Int(len(others))
	k := others[one]
	if len(others) > 1 {
		two := others[(one+1+r.Int(len(others)-1))%len(others)]
		if two.at < k.at {
			k = two
		}
	}
	return k.addr, true
}

// Took takes how long a peer's answer took.
func (p *Pool) Took(now node.Instant, a node.Addr, d time.Duration) {
	if k := p.of(a); k != nil {
		k.failing = false
		p.sample(now, k, max(d, 1))
	}
}

// Failed takes that a peer did not serve a question. A failure is a slow answer, however soon it came:
// otherwise a peer that rejects everything would be the fastest.
func (p *Pool) Failed(now node.Instant, a node.Addr) {
	if k := p.of(a); k != nil {
		k.failing = true
		p.sample(now, k, p.config.Penalty)
	}
}

// sample adds to the average. An old average counts less.
func (p *Pool) sample(now node.Instant, k *peer, d time.Duration) {
	share := time.Duration(weight)
	if k.average == 0 {
		share = whole
	} else if since := now.Sub(k.at); since > 0 {
		share = min(whole, weight+weight*min(since, whole*p.config.Settle)/p.config.Settle)
	}
	k.average += (d - k.average) * share / whole
	k.average = max(k.average, 1)
	k.at = now
	if k.average < k.least || k.least == 0 {
		k.least = k.average
	}
	p.judge(now)
}

// judge changes the preferred peer for a faster one.
func (p *Pool) judge(now node.Instant) {
	if p.current == nil {
		return
	}
	best := p.best(p.current)
	if best == nil || rank(best) > 0 {
		return
	}
	faster := best.average*whole < p.current.average*gain
	if p.current.failing || faster && now.Sub(p.since) >= p.config.Hold {
		p.become(now, best)
	}
}

// best returns the peer that answers fastest, without one.
func (p *Pool) best(without *peer) (best *peer) {
	for _, k := range p.peers {
		if k != without && (best == nil || compare(k, best) < 0) {
			best = k
		}
	}
	return best
}

func (p *Pool) become(now node.Instant, k *peer) {
	if k == nil {
		return
	}
	p.current, p.since, k.least = k, now, k.average
}
