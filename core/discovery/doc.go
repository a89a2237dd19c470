// Package discovery keeps the addresses behind names, candidates of nodes to connect to, and prefers
// among peers that answer the same the one that answers fastest.
//
// It opens no stream (core/uplink, core/client) and sends no query: the host resolves
// (node.Network.Resolve). It is no membership: nodes never count a majority of names, so no
// configured set of gates or managers contains one. A Pool decides where there is a choice alone:
// which gate a client asks what any gate answers. Workers connect to all managers, managers to all
// gates, and whatever concerns a job goes to its owner.
//
// Source: DESIGN.md, "Membership and leases". A name has the form dns:HOST:PORT, for all
// addresses of a host, or srv:NAME, for the targets of a service.
//
// Invariants:
//
//	DISC-1 A name has at most CandidatesMax candidates, each once. Two names may share one; it
//	       is gone when no name has it any more.
//	DISC-2 A look-up that fails, or finds nothing, takes no candidate away: an old address is
//	       better than none, and the Hello of a peer says whether it is the right one.
//	DISC-3 Each name is asked again for ever: after its TTL within TTLMin and TTLMax, after
//	       Negative if it is absent, after a failure with a wait that doubles from RetryMin to
//	       RetryMax. Each wait is drawn from its upper half, so that nodes do not ask together.
//	DISC-4 A look-up without an outcome counts as failed after LookupMax.
//	DISC-5 A Pool prefers the peer that answers fastest, and leaves it for one that needs less than
//	       three quarters of its time, at most each Hold. A failure is a slow answer, and a failing
//	       peer is left at once. Each node has an order of its own for peers that nothing is known
//	       of: a peer that leaves moves only the nodes that asked it.
//
// Example:
//
//	case node.InputNames:
//		change := m.names.Take(env, in.Names)
//		for _, a := range change.Added { m.links.Find(env, a) }
//
// Read name.go, config.go, names.go, then pool.go.
package discovery
