package sim

import (
	"time"

	"hyperscale/core/node"
)

// rateWindow is the interval over which the world counts messages.
const rateWindow = time.Second

// rates counts the messages that reach each process in one window, by kind and then by
// process: a world has many processes, and each of them handles few kinds. A message that waited
// counts for the window in which it arrived: a node that slept handles seconds of them at once.
type rates struct{ byKind [][]rate }

// rate counts one kind for one process.
type rate struct {
	window uint32 // its number
	count  uint32
}

// count returns how many messages of a kind reached a process in this window, including this
// one; 0: a later window has begun, and this one overtook none of it.
func (r *rates) count(came time.Duration, process uint32, k node.Kind) int {
	if int(k) >= len(r.byKind) {
		r.byKind = append(r.byKind, make([][]rate, int(k)+1-len(r.byKind))...)
	}
	of := r.byKind[k]
	if int(process) >= len(of) {
		of = append(of, make([]rate, int(process)+1-len(of))...)
		r.byKind[k] = of
	}
	c := &of[process]
	switch w := uint32(came / rateWindow); {
	case w > c.window:
		*c = rate{window: w}
	case w < c.window:
		return 0
	}
	c.count++
	return int(c.count)
}

// prices are a node's Costs, in a table.
type prices struct {
	cost   time.Duration
	byKind []time.Duration
	slow   int64        // factor on all
	labor  node.Laborer // the machine of this incarnation, if it implements Laborer
	paid   uint64       // the part of its labor that is charged
}

// pricesOf returns nil if handlers take no time.
func pricesOf(c *Costs) *prices {
	if c.Default == 0 && len(c.ByKind) == 0 {
		return nil
	}
	p := &prices{cost: c.Default, slow: 1}
	//lint:orderfree each kind has a place of its own
	for k, d := range c.ByKind {
		for len(p.byKind) <= int(k) {
			p.byKind = append(p.byKind, c.Default)
		}
		p.byKind[k] = d
	}
	return p
}

// of returns the time that handling an input takes.
func (p *prices) of(in *node.Input) time.Duration {
	cost := p.cost
	if in.Kind == node.InputMessage || in.Kind == node.InputCommand {
		if k := int(in.Message.Kind()); k < len(p.byKind) {
			cost = p.byKind[k]
		}
	}
	return cost * time.Duration(p.slow)
}

// The world charges work that grows with the cluster in addition to the price of an input, in
// whole units of many looks. A look compares names that are not in a cache. In a small cluster
// a Step does less than one unit.
const (
	laborUnit = 100_000
	laborCost = time.Millisecond
)

// extra returns the time for the labor of the Step that just ended, before any slowness.
func (p *prices) extra() time.Duration {
	done := p.labor.Labor()
	units := (done - p.paid) / laborUnit
	p.paid = done
	return time.Duration(units) * laborCost
}

// floods says that an input is the first above a bound of its kind in this window: two nodes
// that answer each other's answers wait for no timer.
func (r *rates) floods(now time.Duration, process uint32, in *node.Input, most int) bool {
	return in.Kind == node.InputMessage && r.count(now-in.Waited, process, in.Message.Kind()) == most+1
}
