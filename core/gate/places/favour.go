package places

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds of the favourite.
const (
	lookEvery    = time.Second
	holdDown     = 30 * time.Second // how long another one is better before the gate favours it, and how long a datacenter is well before it counts
	coolDown     = time.Minute      // between two changes for a lower cost
	gainPerCent  = 20               // by so much less another one costs
	recordWindow = 5 * time.Minute  // the record looks back one to two of them
	tripBase     = 20 * time.Millisecond
)

// favour is the datacenter that a gate prefers for jobs that name none. Each gate has its own.
type favour struct {
	of     *Datacenter
	looked node.Instant
	change node.Instant // of the last one
	ahead  node.Instant // since when another one costs less by gainPerCent; 0: none does
}

// record is what the gate remembers of a datacenter.
type record struct {
	ill  bool         // it was DEGRADED or UNHEALTHY when the gate last looked
	well node.Instant // since when it is not; 0: always

	window     node.Instant // when the younger counts began
	kept, lost [2]uint64    // subjobs that ended there, and those that its machines lost: the younger, the older
}

// Count records how a subjob ended: lost by the machines of the datacenter, or not.
func (d *Datacenter) Count(now node.Instant, lost bool) {
	d.turn(now)
	if lost {
		d.lost[0]++
	} else {
		d.kept[0]++
	}
}

func (r *record) turn(now node.Instant) {
	switch age := now.Sub(r.window); {
	case age >= 2*recordWindow:
		r.kept, r.lost, r.window = [2]uint64{}, [2]uint64{}, now
	case age >= recordWindow:
		r.kept, r.lost, r.window = [2]uint64{0, r.kept[0]}, [2]uint64{0, r.lost[0]}, now
	}
}

// settled says that the datacenter was well for holdDown, or ever since the gate knows it.
func (r *record) settled(now node.Instant) bool {
	return !r.ill && (r.well == 0 || now.Sub(r.well) >= holdDown)
}

// Settled says that the datacenter is neither DEGRADED nor UNHEALTHY and did not recover of late.
func (d *Datacenter) Settled(now node.Instant) bool { return d.settled(now) && !d.isIll() }

func (d *Datacenter) isIll() bool { return d.Health() >= message.HealthDegraded }

// Cost orders datacenters that are equal otherwise: near ones with free cores first.
func (d *Datacenter) Cost(now node.Instant) uint64 { return d.cost(now) }

// cost grows with the way to the datacenter, with the share of its cores that are in use, and
// with the share of subjobs that it lost: (tripBase + round trip) x (1 + used) / kept.
func (d *Datacenter) cost(now node.Instant) uint64 {
	d.turn(now)
	v := d.View()
	used, kept, lost := uint64(1000), d.kept[0]+d.kept[1], d.lost[0]+d.lost[1]
	if v.Total > 0 {
		used = 1000 - 1000*uint64(min(d.Free(), v.Total))/uint64(v.Total)
	}
	trip := uint64((tripBase + min(max(0, v.Trip), 10*time.Second)) / time.Microsecond)
	return trip * (1000 + used) * (kept + lost + 1) / (kept + 1)
}

// Favours says whether the gate favours a datacenter.
func (p *Places) Favours(d *Datacenter) bool { return p.favour.of != nil && p.favour.of == d }

// Favourite is the datacenter that the gate favours; nil if all are UNHEALTHY.
func (p *Places) Favourite() *Datacenter { return p.favour.of }

// Prefer looks at the favourite, at most once a second unless the gate has just lost a manager. It
// leaves an ill one at once for one that has been well for holdDown, and any other only for one that
// costs less by gainPerCent for holdDown, and not within coolDown of the last change. It draws between
// the best two that are near to each other, so that gates do not all choose the same. If there is a
// change, it returns the former favourite, nil if there was none, and says why.
func (p *Places) Prefer(now node.Instant, lost bool, draw func(n int) int) (former *Datacenter, why string, changed bool) {
	f := &p.favour
	if !lost && f.looked != 0 && now.Sub(f.looked) < lookEvery {
		return nil, "", false
	}
	f.looked, former = now, f.of
	all := p.rate(now)
	own := slices.IndexFunc(all, func(r rated) bool { return r.of == f.of })
	var to []rated
	switch {
	case len(all) == 0:
		f.of, f.ahead = nil, 0
		return nil, "", false
	case own < 0:
		to = slices.DeleteFunc(all, func(r rated) bool { return r.rank != all[0].rank })
		if why = "it has live managers and workers"; former != nil {
			why = former.Name + " is " + former.Health().String()
		}
	case all[own].ill && all[0].rank == 0:
		to = slices.DeleteFunc(all, func(r rated) bool { return r.rank != 0 })
		why = f.of.Name + " is " + f.of.Health().String()
	default:
		mine := all[own]
		to = slices.DeleteFunc(all, func(r rated) bool { return r.rank != 0 || !lessByGain(r.cost, mine.cost) })
		if len(to) == 0 {
			f.ahead = 0
			return nil, "", false
		}
		if f.ahead == 0 {
			f.ahead = now
		}
		if now.Sub(f.ahead) < holdDown || f.change != 0 && now.Sub(f.change) < coolDown {
			return nil, "", false
		}
		why = fmt.Sprintf("it has cost at least %d %% less for %v: a shorter way, more free cores or fewer losses", gainPerCent, holdDown)
	}
	slices.SortStableFunc(to, func(a, b rated) int { return cmp.Compare(a.cost, b.cost) })
	best := to[0]
	if len(to) > 1 && !lessByGain(best.cost, to[1].cost) {
		best = to[draw(2)]
	}
	if f.of, f.ahead = best.of, 0; former != nil {
		f.change = now
	}
	return former, why, true
}

func lessByGain(a, b uint64) bool { return a*100 <= b*(100-gainPerCent) }

// rated is a datacenter that is not UNHEALTHY. Its rank is 0 if it has been well for holdDown, 1 if
// it recovered of late, 2 if it is DEGRADED.
type rated struct {
	of   *Datacenter
	ill  bool
	rank int
	cost uint64
}

// rate notes the health of all datacenters, and lists those that are not UNHEALTHY, by rank and
// name.
func (p *Places) rate(now node.Instant) (all []rated) {
	for _, d := range p.list {
		health := d.Health()
		was := d.ill
		if d.ill = health >= message.HealthDegraded; was && !d.ill {
			d.well = now
		}
		if health == message.HealthUnhealthy {
			continue
		}
		r := rated{of: d, ill: d.ill, cost: d.cost(now)}
		if !d.settled(now) {
			r.rank = 1
		}
		if r.ill {
			r.rank = 2
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b rated) int { return cmp.Compare(a.rank, b.rank) })
	return all
}
