package places

import (
	"cmp"
	"math"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// NameMax bounds the name of a datacenter, in bytes.
const NameMax = 64

// Bounds are the settings of a gate's places.
type Bounds struct {
	Datacenters   int           // known at once
	Managers      int           // in all datacenters
	Silence       time.Duration // a manager that is silent for so long is lost
	ManagerAge    time.Duration // a lost manager counts in its datacenter's majority for so long
	DatacenterAge time.Duration // the gate forgets a datacenter without managers after so long
}

// Places holds the datacenters and the managers that a gate knows.
type Places struct {
	bounds      Bounds
	managers    map[node.ID]*Manager
	datacenters map[string]*Datacenter
	list        []*Datacenter // of datacenters, by name
	favour      favour
}

// New returns places that know no datacenter.
func New(b Bounds) *Places {
	return &Places{bounds: b, managers: map[node.ID]*Manager{}, datacenters: map[string]*Datacenter{}}
}

// All lists the datacenters by name. The caller must not change the list.
func (p *Places) All() []*Datacenter { return p.list }

// Datacenter finds one by its name, or returns nil.
func (p *Places) Datacenter(name string) *Datacenter { return p.datacenters[name] }

// Manager finds one by its ID, or returns nil.
func (p *Places) Manager(id node.ID) *Manager { return p.managers[id] }

// Add adds a datacenter that the gate has persisted before, with its silence until then.
func (p *Places) Add(name string, now node.Instant, silence time.Duration) *Datacenter {
	d := &Datacenter{Name: name, silent: now.Add(-silence), saved: silence}
	p.datacenters[name] = d
	at, _ := slices.BinarySearchFunc(p.list, name, func(d *Datacenter, name string) int { return cmp.Compare(d.Name, name) })
	p.list = slices.Insert(p.list, at, d)
	return d
}

// Know returns a datacenter, and whether it is new. The gate persists a new name, so that after
// a restart it does not mistake a datacenter that is down for a mistyped name. Know returns nil
// for an invalid name, or beyond the bound.
func (p *Places) Know(name string, now node.Instant) (d *Datacenter, fresh bool) {
	if d := p.datacenters[name]; d != nil {
		return d, false
	}
	if len(p.list) >= p.bounds.Datacenters || !Name(name) {
		return nil, false
	}
	return p.Add(name, now, 0), true
}

// Full says that no further manager may register.
func (p *Places) Full() bool { return len(p.managers) >= p.bounds.Managers }

// Register registers a manager in a datacenter with this incarnation. The caller must have
// called Forget if the manager was in another datacenter.
func (p *Places) Register(d *Datacenter, peer node.Peer, now node.Instant) *Manager {
	m := p.managers[peer.ID]
	if m == nil {
		m = &Manager{ID: peer.ID, Place: d}
		p.managers[m.ID] = m
		at, _ := slices.BinarySearchFunc(d.Managers, m.ID, func(x *Manager, id node.ID) int { return cmp.Compare(x.ID, id) })
		d.Managers = slices.Insert(d.Managers, at, m)
	}
	m.Live, m.incarnation, m.addr, m.sequence, m.heard, m.minor = true, peer.Incarnation, peer.Addr, 0, now, peer.Minor
	return m
}

// Forget removes a manager: no majority counts it any more.
func (p *Places) Forget(m *Manager) {
	delete(p.managers, m.ID)
	m.Place.Managers = slices.DeleteFunc(m.Place.Managers, func(other *Manager) bool { return other == m })
}

// Broken records that a stream has broken. The manager has Silence to open another one.
func (p *Places) Broken(s node.StreamID) {
	//lint:orderfree at most one manager speaks on a stream
	for _, m := range p.managers {
		if m.Stream == s {
			m.Stream = 0
		}
	}
}

// Heard says that a manager lives.
func (p *Places) Heard() bool {
	//lint:orderfree any
	for _, m := range p.managers {
		if m.Live {
			return true
		}
	}
	return false
}

// FirstLoss says when the first live manager would be lost without a further heartbeat.
func (p *Places) FirstLoss() (at node.Instant, ok bool) {
	at = node.Instant(math.MaxInt64)
	for _, d := range p.list {
		for _, m := range d.Managers {
			if m.Live {
				at = min(at, m.heard.Add(p.bounds.Silence))
			}
		}
	}
	return at, at < math.MaxInt64
}

// Silent lists the live managers that were silent for too long, by datacenter and ID.
func (p *Places) Silent(now node.Instant) (all []*Manager) {
	for _, d := range p.list {
		for _, m := range d.Managers {
			if m.Live && now.Sub(m.heard) >= p.bounds.Silence {
				all = append(all, m)
			}
		}
	}
	return all
}

// Sweep forgets managers that were lost long ago, and returns the datacenters that it forgot.
func (p *Places) Sweep(now node.Instant) (gone []string) {
	for _, d := range slices.Clone(p.list) {
		for _, m := range slices.Clone(d.Managers) {
			if !m.Live && now.Sub(m.heard) >= p.bounds.ManagerAge {
				p.Forget(m)
			}
		}
		if now.Sub(d.whole) >= p.bounds.ManagerAge {
			d.workers, d.whole = d.View().Workers, now
		}
		if now.Sub(d.able) >= p.bounds.ManagerAge { // smaller workers may have taken the place of as many larger ones
			d.Cores, d.able = d.View().Total, now
		}
		if len(d.Managers) == 0 && now.Sub(d.silent) >= p.bounds.DatacenterAge {
			p.forgetDatacenter(d)
			gone = append(gone, d.Name)
		}
	}
	return gone
}

// Silence is how long a datacenter has been without managers that live.
type Silence struct {
	Datacenter string
	For        time.Duration // 0: a manager lives again
}

// Silences returns the silences that have grown by an eighth of DatacenterAge, or ended, since it
// last returned them. The gate persists them, so that its restarts do not count a silence anew.
func (p *Places) Silences(now node.Instant) (all []Silence) {
	for _, d := range p.list {
		silence := time.Duration(0)
		if !slices.ContainsFunc(d.Managers, func(m *Manager) bool { return m.Live }) {
			silence = now.Sub(d.silent)
		}
		if silence == 0 && d.saved > 0 || silence-d.saved >= p.bounds.DatacenterAge/8 {
			d.saved = silence
			all = append(all, Silence{d.Name, silence})
		}
	}
	return all
}

func (p *Places) forgetDatacenter(d *Datacenter) {
	delete(p.datacenters, d.Name)
	p.list = slices.DeleteFunc(p.list, func(other *Datacenter) bool { return other == d })
}

// Release releases room that a datacenter has reserved, if the gate still knows the
// datacenter.
func (p *Places) Release(datacenter string, r Room) {
	if d := p.datacenters[datacenter]; d != nil {
		d.reserved.Cores -= min(d.reserved.Cores, r.Cores)
		d.reserved.Seats -= r.Seats
	}
}

// Best chooses among the datacenters that leave does not exclude: by health, then by cost, so that
// a near one comes before a far one with a few more free cores, then by name. It returns nil if all
// are UNHEALTHY. others says whether there was any choice.
func (p *Places) Best(now node.Instant, leave func(name string) bool) (best *Datacenter, others bool) {
	var bestRank message.Health
	for _, d := range p.list {
		if leave(d.Name) {
			continue
		}
		others = true
		rank := d.Health()
		if rank == message.HealthUnhealthy {
			continue
		}
		if best == nil || rank < bestRank || rank == bestRank && d.cost(now) < best.cost(now) {
			best, bestRank = d, rank
		}
	}
	return best, others
}

// Sizes reports the ledgers next to their bounds.
func (p *Places) Sizes(tell node.Tell) {
	tell("gate/managers", len(p.managers), p.bounds.Managers)
	tell("gate/datacenters", len(p.datacenters), p.bounds.Datacenters)
}

// Rests reports reservations of datacenters, which must be 0, and whether all ledgers know the
// same managers.
func (p *Places) Rests(tell node.Tell) {
	reserved, managers := 0, 0
	for _, d := range p.list {
		reserved += int(d.reserved.Cores+d.promised.Cores) + int(d.reserved.Seats+d.promised.Seats)
		managers += len(d.Managers)
	}
	tell("gate/cores that datacenters reserve", reserved, 0)
	tell("gate/managers without a datacenter", node.Leak(len(p.managers), managers), 0)
	tell("gate/datacenters without a name", node.Leak(len(p.list), len(p.datacenters)), 0)
}

// Name says whether a datacenter's name is valid: it becomes part of keys of the store.
func Name(name string) bool {
	if name == "" || len(name) > NameMax {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}
