// Package netsim is the network between simulated nodes. It decides when a datagram arrives,
// how often, or never, and how a stream ends.
//
// It is not the world: it schedules nothing, and knows no machine and no clock. The world
// passes the time, and carries out the actions that netsim returns.
//
// Source: DESIGN.md, "The simulator". A stream behaves like TCP without keep-alive. Bytes that
// cannot pass are sent again, later and later. The side that waits too long breaks; the other
// one learns of it when it sends.
//
// Invariants:
//
//	NET-1 All draws are integers from one stream of node.Rand; chances are parts per
//	      million.
//	NET-2 On one stream, messages of one side and priority arrive in the order sent. None
//	      arrives before StreamOpened or twice, and only a break drops any.
//	NET-3 A side learns of a break at most once, and never after it closed.
//	NET-4 A node always reaches itself, whatever is cut.
//	NET-5 What waits for a slow link or a cut counts as a stream's backlog, and breaks it beyond
//	      Config.StreamMax.
//
// Example:
//
//	n := netsim.New(netsim.Default(), node.NewRand(7, "world", node.PurposeNetwork))
//	a, b := n.Add("dc-a"), n.Add("dc-b")
//	d := n.Datagram(now, a, b, size) // d.Count copies, at d.At
//
// Read config.go, network.go, rule.go, then stream.go, connect.go, close.go.
package netsim
