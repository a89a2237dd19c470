package places

import (
	"cmp"
	"math"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// NameMax is how many bytes the name of a datacenter has at most.
const NameMax = 64

// Bounds are the settings of a gate that places obey.
type Bounds struct {
	Datacenters   int           // that are known at once
	Managers      int           // of all of them
	Silence       time.Duration // a manager that is silent for so long is lost
	ManagerAge    time.Duration // a lost manager counts in its datacenter's majority for so long
	DatacenterAge time.Duration // a datacenter without managers is known for so long
}

// Places are the datacenters and the managers that a gate knows.
type Places struct {
	bounds      Bounds
	managers    map[node.ID]*Manager
	datacenters map[string]*Datacenter
	list        []*Datacenter // of datacenters, by name
}

// New returns places that know no datacenter.
func New(b Bounds) *Places {
	return &Places{bounds: b, managers: map[node.ID]*Manager{}, datacenters: map[string]*Datacenter{}}
}

// All lists the datacenters by name. The caller must not change the list.
func (p *Places) All() []*Datacenter { return p.list }

// Datacenter finds one by its name, or returns nil.
func (p *Places) Datacenter(name string) *Datacenter { return p.datacenters[name] }

// Manager finds one by its name, or returns nil.
func (p *Places) Manager(id node.ID) *Manager { return p.managers[id] }

// Add makes a datacenter known that a gate has persisted before.
func (p *Places) Add(name string, now node.Instant) *Datacenter {
	d := &Datacenter{Name: name, silent: now}
	p.datacenters[name] = d
	at, _ := slices.BinarySearchFunc(p.list, name, func(d *Datacenter, name string) int { return cmp.Compare(d.Name, name) })
	p.list = slices.Insert(p.list, at, d)
	return d
}

// Know returns a datacenter, and whether it is new: then the gate persists its name, so
// that after a restart one that is down is not taken for a mistyped name. It returns nil
// for a name that is none, or beyond the bound.
func (p *Places) Know(name string, now node.Instant) (d *Datacenter, fresh bool) {
	if d := p.datacenters[name]; d != nil {
		return d, false
	}
	if len(p.list) >= p.bounds.Datacenters || !Name(name) {
		return nil, false
	}
	return p.Add(name, now), true
}

// Full says that no further manager may register.
func (p *Places) Full() bool { return len(p.managers) >= p.bounds.Managers }

// Register makes a peer the manager of its name in a datacenter, under this incarnation.
// One that was known in another datacenter must have been forgotten.
func (p *Places) Register(d *Datacenter, peer node.Peer, now node.Instant) *Manager {
	m := p.managers[peer.ID]
	if m == nil {
		m = &Manager{ID: peer.ID, Place: d}
		p.managers[m.ID] = m
		at, _ := slices.BinarySearchFunc(d.Managers, m.ID, func(x *Manager, id node.ID) int { return cmp.Compare(x.ID, id) })
		d.Managers = slices.Insert(d.Managers, at, m)
	}
	m.Live, m.incarnation, m.addr, m.sequence, m.heard = true, peer.Incarnation, peer.Addr, 0, now
	return m
}

// Forget removes a manager: it counts in no majority any more.
func (p *Places) Forget(m *Manager) {
	delete(p.managers, m.ID)
	m.Place.Managers = slices.DeleteFunc(m.Place.Managers, func(other *Manager) bool { return other == m })
}

// Broken notes that a stream has broken. A manager has its silence to open another one.
func (p *Places) Broken(s node.StreamID) {
	//lint:orderfree at most one manager speaks on a stream
	for _, m := range p.managers {
		if m.Stream == s {
			m.Stream = 0
		}
	}
}

// FirstLoss says when the first live manager is lost unless it is heard before.
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

// Silent lists the live managers whose silence is over, by datacenter and name.
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

// Sweep forgets managers that are long lost, and returns the datacenters that it forgot.
func (p *Places) Sweep(now node.Instant) (gone []string) {
	for _, d := range slices.Clone(p.list) {
		for _, m := range slices.Clone(d.Managers) {
			if !m.Live && now.Sub(m.heard) >= p.bounds.ManagerAge {
				p.Forget(m)
			}
		}
		if now.Sub(d.whole) >= p.bounds.ManagerAge {
			v := d.View()
			d.workers, d.Cores, d.whole = v.Workers, v.Total, now
		}
		if len(d.Managers) == 0 && now.Sub(d.silent) >= p.bounds.DatacenterAge {
			p.forgetDatacenter(d)
			gone = append(gone, d.Name)
		}
	}
	return gone
}

func (p *Places) forgetDatacenter(d *Datacenter) {
	delete(p.datacenters, d.Name)
	p.list = slices.DeleteFunc(p.list, func(other *Datacenter) bool { return other == d })
}

// Release gives back cores that a datacenter has reserved, if it is still known.
func (p *Places) Release(datacenter string, cores uint32) {
	if d := p.datacenters[datacenter]; d != nil {
		d.reserved -= min(d.reserved, cores)
	}
}

// Best chooses among the datacenters that are not left out: by health, then by free cores,
// then by name. It returns nil where all are UNHEALTHY, and whether any was not left out.
func (p *Places) Best(leave func(name string) bool) (best *Datacenter, others bool) {
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
		if best == nil || rank < bestRank || rank == bestRank && d.Free() > best.Free() {
			best, bestRank = d, rank
		}
	}
	return best, others
}

// Sizes tells the ledgers against their bounds.
func (p *Places) Sizes(tell node.Tell) {
	tell("gate/managers", len(p.managers), p.bounds.Managers)
	tell("gate/datacenters", len(p.datacenters), p.bounds.Datacenters)
}

// Rests tells that each datacenter reserves nothing and that all ledgers know the same managers.
func (p *Places) Rests(tell node.Tell) {
	reserved, managers := 0, 0
	for _, d := range p.list {
		reserved += int(d.reserved + d.promised)
		managers += len(d.Managers)
	}
	tell("gate/cores that datacenters reserve", reserved, 0)
	tell("gate/managers without a datacenter", node.Leak(len(p.managers), managers), 0)
	tell("gate/datacenters without a name", node.Leak(len(p.list), len(p.datacenters)), 0)
}

// Name says whether a datacenter may be called so: the name is part of keys of the store.
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
