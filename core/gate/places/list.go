package places

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// nodesListed bounds a list of nodes.
const nodesListed = 4096

// Names lists the datacenters' names.
func (p *Places) Names() (all []string) {
	for _, d := range p.list {
		all = append(all, d.Name)
	}
	return all
}

// Infos lists the datacenters for people.
func (p *Places) Infos() (all []message.DatacenterInfo) {
	for _, d := range p.list {
		v := d.View()
		all = append(all, message.DatacenterInfo{
			Name: d.Name, Health: d.Health(), Managers: uint32(v.Live), Workers: v.Workers, CoresTotal: v.Total, CoresFree: d.Free(),
			RoundTrip: v.Trip, Favoured: p.Favours(d),
		})
	}
	return all
}

// Nodes lists the managers, then the workers as the manager with the most workers describes
// them.
func (p *Places) Nodes(now node.Instant) []message.NodeInfo {
	var list []message.NodeInfo
	for _, d := range p.list {
		var most *Manager
		leader := d.leader()
		for _, m := range d.Managers {
			list = append(list, message.NodeInfo{
				Node: string(m.ID), Role: uint8(node.RoleManager), Datacenter: d.Name,
				Silent: now.Sub(m.heard), CoresTotal: m.total, CoresFree: m.free,
				Incarnation: m.incarnation, State: m.state(), Draining: m.draining, Subjobs: uint32(m.subjobs),
				Leader: m.Live && leader != "" && m.addr == leader, Version: message.VersionText(m.minor),
			})
			if m.Live && (most == nil || m.workerSum > most.workerSum) {
				most = m
			}
		}
		if most == nil {
			continue
		}
		for _, w := range most.workers {
			list = append(list, message.NodeInfo{
				Node: w.Node, Role: uint8(node.RoleWorker), Datacenter: d.Name,
				Silent: now.Sub(most.heard), CoresTotal: w.CoresTotal, CoresFree: w.CoresFree,
				Incarnation: w.Incarnation, State: swim.Alive.String(), Draining: w.Draining,
				Version: cmp.Or(w.Version, message.VersionText(most.minor)),
			})
		}
		list = doubt(list, d.Name, most)
	}
	slices.SortStableFunc(list, func(a, b message.NodeInfo) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), strings.Compare(a.Datacenter, b.Datacenter), strings.Compare(a.Node, b.Node))
	})
	return list[:min(len(list), nodesListed)]
}

// state is the state of a manager as this gate sees it.
func (m *Manager) state() string {
	switch progress := health.OfWait(m.overdue); {
	case !m.Live:
		return "lost"
	case m.refuses == message.CodeNotMember:
		return "joining"
	case m.Lacks():
		return "no quorum"
	case m.refuses != message.CodeNone:
		return "full"
	case progress != health.Moving:
		return progress.String()
	}
	return swim.Alive.String()
}

// doubt adds to the list what the members of a datacenter report about each other.
func doubt(list []message.NodeInfo, datacenter string, by *Manager) []message.NodeInfo {
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

// Versioned notes what a manager says of its group's version.
func (m *Manager) Versioned(s node.StreamID, v *message.GroupVersion) {
	if m != nil && m.Live && m.Stream == s && len(v.Members) <= message.OrdinalMax && len(v.Held) <= message.OrdinalMax {
		m.version = v
	}
}

// Minor returns the version that a manager tells.
func (m *Manager) Minor() uint16 { return m.minor }

// Version returns what the managers of a datacenter say of their group. A manager that is lost, or of
// a version that knows no levels, holds the group back.
func (d *Datacenter) Version(target uint16) message.GroupVersion {
	v := message.GroupVersion{Group: d.Name, Target: target}
	var held []string
	for _, m := range d.Managers {
		switch since := message.Since(message.KindLeaseLevel); {
		case !m.Live || m.Stream == 0:
			held = append(held, fmt.Sprintf("%s is not heard: start it", m.ID))
		case m.minor < since:
			held = append(held, fmt.Sprintf("%s is of version %s: start version %s there", m.ID, message.VersionText(m.minor), message.VersionText(target)))
		case m.version == nil:
			held = append(held, fmt.Sprintf("%s has not answered yet: ask again", m.ID))
		case v.Members == nil || m.version.Level < v.Level || len(m.version.Held) > 0:
			v = *m.version
			v.Group = d.Name
		}
	}
	v.Held = append(held, v.Held...)
	if len(d.Managers) == 0 {
		v.Held = append(v.Held, "no manager has registered: start them")
	}
	return v
}
