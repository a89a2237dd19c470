package gate

import (
	"cmp"
	"slices"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// datacenter is what the gate knows of one.
type datacenter struct {
	name     string
	managers []*manager   // by id, lost ones until they are swept
	reserved uint32       // free cores that dispatches on their way will take
	promised uint32       // and those that schedule is about to send
	workers  uint32       // most that were registered at once, until that is long ago
	cores    uint32       // the same of cores
	whole    node.Instant // when that many last were
	silent   node.Instant // when a manager was last lost
}

// view is a datacenter as its live managers tell.
type view struct {
	live, ready          int // managers
	workers, total, free uint32
}

func (d *datacenter) view() view {
	var v view
	for _, mgr := range d.managers {
		if !mgr.live {
			continue
		}
		v.live++
		// All managers see the same workers; one that sees fewer is behind.
		v.workers, v.total = max(v.workers, mgr.workerSum), max(v.total, mgr.total)
		if !mgr.draining && mgr.stream != 0 {
			v.ready++
			v.free = max(v.free, mgr.free)
		}
	}
	return v
}

// free returns the cores that nobody has and nobody was promised.
func (m *Machine) free(d *datacenter) uint32 {
	v := d.view()
	return v.free - min(v.free, d.reserved+d.promised)
}

// health: the first that matches.
func (m *Machine) health(d *datacenter) message.Health {
	v := d.view()
	switch {
	case v.live == 0 || v.workers == 0:
		return message.HealthUnhealthy
	case 2*v.live <= len(d.managers) || 2*v.ready <= len(d.managers) || 2*v.workers <= d.workers:
		return message.HealthDegraded
	case m.free(d) == 0:
		return message.HealthBusy
	}
	return message.HealthHealthy
}

func (m *Machine) addDatacenter(name string, now node.Instant) *datacenter {
	d := &datacenter{name: name, silent: now}
	m.datacenters[name] = d
	at, _ := slices.BinarySearchFunc(m.places, name, func(d *datacenter, name string) int { return cmp.Compare(d.name, name) })
	m.places = slices.Insert(m.places, at, d)
	return d
}

func (m *Machine) forgetDatacenter(d *datacenter) {
	delete(m.datacenters, d.name)
	m.places = slices.DeleteFunc(m.places, func(other *datacenter) bool { return other == d })
}

// known returns a datacenter, new ones are remembered across restarts, so that
// one that is down is not taken for a mistyped name.
func (m *Machine) known(env node.Env, name string) *datacenter {
	if d := m.datacenters[name]; d != nil {
		return d
	}
	if len(m.places) >= m.config.DatacentersMax || !placeName(name) {
		return nil
	}
	d := m.addDatacenter(name, env.Now())
	m.remember(env, datacenterPrefix+name, []byte{1})
	return d
}

func (m *Machine) onDatacenterQuery(env node.Env, in *node.Input, q *message.DatacenterQuery) {
	list := &message.DatacenterList{Request: q.Request}
	for _, d := range m.places {
		v := d.view()
		list.Datacenters = append(list.Datacenters, message.DatacenterInfo{
			Name: d.name, Health: m.health(d), Managers: uint32(v.live), Workers: v.workers, CoresTotal: v.total, CoresFree: m.free(d),
		})
	}
	env.Send(in.Stream, list)
}

// nodes lists managers, then workers as their most knowing manager tells of them.
func (m *Machine) nodes(now node.Instant) []message.NodeInfo {
	var list []message.NodeInfo
	for _, d := range m.places {
		var most *manager
		leader := d.leader()
		for _, mgr := range d.managers {
			list = append(list, message.NodeInfo{
				Node: string(mgr.id), Role: uint8(node.RoleManager), Datacenter: d.name,
				Silent: now.Sub(mgr.heard), CoresTotal: mgr.total, CoresFree: mgr.free,
				Incarnation: mgr.incarnation, State: stateOf(mgr), Draining: mgr.draining, Subjobs: uint32(mgr.subjobs),
				Leader: mgr.live && leader != "" && mgr.addr == leader,
			})
			if mgr.live && (most == nil || mgr.workerSum > most.workerSum) {
				most = mgr
			}
		}
		if most == nil {
			continue
		}
		for _, w := range most.workers {
			list = append(list, message.NodeInfo{
				Node: w.Node, Role: uint8(node.RoleWorker), Datacenter: d.name,
				Silent: now.Sub(most.heard), CoresTotal: w.CoresTotal, CoresFree: w.CoresFree,
				Incarnation: w.Incarnation, State: swim.Alive.String(), Draining: w.Draining,
			})
		}
		list = doubt(list, d.name, most)
	}
	slices.SortStableFunc(list, func(a, b message.NodeInfo) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), strings.Compare(a.Datacenter, b.Datacenter), strings.Compare(a.Node, b.Node))
	})
	return list[:min(len(list), nodesListed)]
}

// leader is the manager that keeps house in a datacenter, as those of the highest term
// say; empty while none of them knows.
func (d *datacenter) leader() (leader node.Addr) {
	term := uint64(0)
	for _, mgr := range d.managers {
		switch {
		case !mgr.live || mgr.term < term:
		case mgr.term > term:
			leader, term = mgr.leader, mgr.term
		case leader == "":
			leader = mgr.leader
		}
	}
	return leader
}

// stateOf is what this gate itself knows of a manager.
func stateOf(mgr *manager) string {
	if !mgr.live {
		return "lost"
	}
	return swim.Alive.String()
}

// doubt puts into the list what a datacenter's members say of each other.
func doubt(list []message.NodeInfo, datacenter string, by *manager) []message.NodeInfo {
	for _, d := range by.doubts {
		at := slices.IndexFunc(list, func(n message.NodeInfo) bool { return n.Node == d.Node && n.Datacenter == datacenter })
		if at < 0 {
			at = len(list)
			list = append(list, message.NodeInfo{Node: d.Node, Role: d.Role, Datacenter: datacenter})
		}
		list[at].State, list[at].By, list[at].Incarnation = d.State, d.By, d.Incarnation
	}
	return list
}
