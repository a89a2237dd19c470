// Package resolve turns names into addresses, and tells all that was said on the way:
// which server, which chain of names, for how long.
//
// It is not a recursive resolver and keeps no cache (who asks knows how long an answer is
// to be used), and it reads neither nsswitch.conf nor multicast: where nothing is
// configured the engine asks the standard library instead.
//
// Source: RFC 1034 and 1035, 2308 (negative answers), 5452 (answers that were not asked
// for), 6761 (localhost), 6891 (EDNS), 7766 (TCP), 9520 (failures); resolv.conf(5), hosts(5).
//
// Invariants:
//
//	RESOLVE-1 Lookup does no I/O and reads no clock: it says what to send where, is given what
//	          came and what time it is. Resolver is the driver with sockets.
//	RESOLVE-2 An answer counts only with the id, the question and the server of a query under
//	          way; addresses count only at the end of the chain that begins at the question.
//	          Anything else is ignored, as if it had not come.
//	RESOLVE-3 Bounded: chains (ChainMax), addresses (AddressesMax), records read of an answer,
//	          names tried, queries of each, and the time of all.
//	RESOLVE-4 Ids are drawn by who calls, from a source that nobody can guess.
//
// Read config.go, hosts.go, answer.go, lookup.go, parse.go, resolver.go.
package resolve
