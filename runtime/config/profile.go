package config

import (
	"slices"
	"time"

	"hyperscale/core/node"
)

// FromProfile is the origin of a value that the profile sets, and no source.
const FromProfile = "profile"

// Profiles are the names of places for which a node has other defaults, in the order of the manual.
func Profiles() []string { return []string{"local", "lan", "wan", "kubernetes"} }

// PortAdmin is the admin port of profile kubernetes.
const PortAdmin = "9400"

// place changes the defaults of a role to those of its profile. A name that is none changes nothing: Validate rejects it.
//
// Why not less than 6 s in a LAN: one slow fsync of a shared disk is a second. Why not more than 30 s in a WAN: a majority
// answers across any ocean within 5 s, and another gate takes over no sooner than a lease.
func (n *Node) place() {
	switch n.Profile {
	case "local":
		n.leases(3*time.Second, 500*time.Millisecond)
	case "lan":
		n.leases(6*time.Second, time.Second)
	case "wan":
		n.leases(30*time.Second, 5*time.Second)
	case "kubernetes":
		port := map[node.Role]string{node.RoleGate: PortGate, node.RoleManager: PortManager, node.RoleWorker: PortWorker}[n.Role]
		n.Listen, n.Admin, n.LogFormat = "0.0.0.0:"+port, "0.0.0.0:"+PortAdmin, "json"
		if n.Role == node.RoleWorker {
			n.StopTimeout = stopMax - 10*time.Second // a terminating pod ends what it runs, within its grace of an hour
		}
	}
}

// leases sets the lease between gates, and how long their majority may take. That of managers stays in one datacenter.
func (n *Node) leases(lease, majority time.Duration) {
	switch n.Role {
	case node.RoleGate:
		n.Lease, n.QuorumTimeout = lease, majority
	case node.RoleManager:
		n.Lease = lease
	}
}

// placed are a role's defaults of a profile.
func placed(role node.Role, profile string) Node {
	n := Default(role)
	n.Profile = profile
	n.place()
	return n
}

func isProfile(name string) bool { return name == "" || slices.Contains(Profiles(), name) }
