// Package trust holds worlds in which someone forges, lies or replays: a peer without the right to say
// what it says, a member that lies in its own name, and someone on the network without a key.
//
// It opens no seal: netsim carries messages, and runtime/seal has tests of its own. A world plays what
// passes that door, or could. Package cluster forges the messages.
//
// Source: DESIGN.md, "Trust"; docs/proof.md, "A member that lies".
//
// Invariants:
//
//	TRUST-1 No machine receives a message of a kind that its sender's role does not send.
//	TRUST-2 The other members keep every invariant, whatever one of them says.
//	TRUST-3 A datagram that arrives again, at any later process of its receiver, breaks no invariant.
//
// Example:
//
//	all := trust.Worlds()
//
// Read impostor.go, then replayer.go.
package trust
