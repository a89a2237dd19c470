// Package quorum is one member of a configured group: its streams to the others, its
// membership, registers, files, election and health, behind one Step and one Ready.
//
// It does not act on what they report: the role that embeds the member does. It adds no
// protocol of its own; it wires those of the packages below it, once for gates and managers.
//
// Source: raft's RawNode, which takes inputs by Step and hands out Ready.
//
// Invariants:
//
//	QUORUM-1 Ready hands out each outcome once, in the order of its part. A round ends when
//	         no part has another one.
//	QUORUM-2 Gates form a closed group, to which only configured members belong. Managers
//	         form an open one, which workers join. A closed group takes nothing but heartbeats
//	         and lease messages from a gate outside the configured set: the registers report
//	         a member that is configured with another set.
//	QUORUM-3 At the end of each round, the election knows this node's health. The membership
//	         knows how late its loop is.
//
// A role calls Step with each input and acts on the input itself only where Step returns
// false. At the end of its own Step it drains Ready, round after round, until a round is
// empty.
//
//	if !q.Step(env, in) { ... }
//	for r, ok := q.Ready(env); ok; r, ok = q.Ready(env) { ... }
//
// Read config.go, member.go, ready.go, rest.go.
package quorum
