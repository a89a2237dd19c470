// Package resolve turns names into addresses, and reports each step on the way: which
// server, which chain of names, for how long.
//
// It is not a recursive resolver and keeps no cache: its caller knows how long to use an
// answer. It reads neither nsswitch.conf nor multicast: where nothing is configured the engine
// asks the standard library instead.
//
// Source: RFC 1034 and 1035, 2308 (negative answers), 5452 (unsolicited answers), 6761
// (localhost), 6891 (EDNS), 7766 (TCP), 9520 (failures); resolv.conf(5), hosts(5).
//
// Invariants:
//
//	RESOLVE-1 Lookup does no I/O and reads no clock. It returns what to send where, and takes
//	          what arrived and the time. Resolver drives it with sockets.
//	RESOLVE-2 An answer counts only with the id, the question and the server of a query under
//	          way. Addresses count only at the end of the chain that begins at the question.
//	          Lookup ignores all other bytes.
//	RESOLVE-3 Bounded: chains (ChainMax), addresses (AddressesMax), records read of an answer,
//	          names tried, queries of each, and the time of all.
//	RESOLVE-4 The caller draws ids from a source that no peer can guess.
//
// Read config.go, hosts.go, answer.go, lookup.go, parse.go, resolver.go, cluster.go.
package resolve
