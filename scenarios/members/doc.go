// Package members holds worlds of machines that do nothing but belong to a group, by
// core/swim, and the simulator's own load: toys that gossip.
//
// It holds no role: no gate, manager or worker takes part.
//
// Source: DESIGN.md, "Ownership" and "Execution", and the SWIM and Lifeguard papers.
//
// Invariants:
//
//	MEMBERS-1 No member takes a healthy one for dead, and each step of a member at an
//	          observer is legal.
//	MEMBERS-2 After healing each running member sees all running members as alive.
//
// Example:
//
//	w := members.NewGossip(members.GossipConfig{Seed: 7, Members: 1000})
//
// Read crowd.go, membership.go, swim.go, joining.go, health.go, then gossip.go.
package members
