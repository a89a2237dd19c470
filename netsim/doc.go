// Package netsim is the network between simulated nodes: when a datagram
// arrives, how often, or never; and what becomes of a stream.
//
// It is not the world: it schedules nothing, knows no machine and no clock. The
// world tells it the time, and carries out the actions that it returns.
//
// Source: DESIGN.md, "The simulator". A stream behaves as TCP without
// keep-alive does: what cannot pass is sent again, later and later; the side
// that waits too long breaks; the other one learns of it when it sends.
//
// Invariants:
//
//	NET-1 All draws are integers from one stream of node.Rand; chances are parts per
//	      million.
//	NET-2 On one stream, messages of one side and priority arrive in the order sent,
//	      none before StreamOpened, none twice, none left out but by a break.
//	NET-3 A side is told of a break at most once, and never after it closed.
//	NET-4 A node always reaches itself, whatever is cut.
//
// Example:
//
//	n := netsim.New(netsim.Default(), node.NewRand(7, "world", node.PurposeNetwork))
//	a, b := n.Add("dc-a"), n.Add("dc-b")
//	d := n.Datagram(now, a, b, size) // d.Count copies, at d.At
//
// Read config.go, network.go, rule.go, then stream.go, connect.go, close.go.
package netsim
