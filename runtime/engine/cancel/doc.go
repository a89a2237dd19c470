// Package cancel asks servers, on connections of its own, to end what a run has given up: a statement whose
// time is over, or that the end of a run cuts off.
//
// It decides nothing: the pool says what is given up, and a codec what to say. It is no part of the load:
// what it sends counts in a line of the result alone.
// Source: "Canceling Requests in Progress" of PostgreSQL's manual.
//
// Invariants:
//
//	CANCEL-1 A request goes to the address that has the connection, from the same address, and in TLS
//	         if the connection stands in TLS. Its TLS verifies what the connection's does.
//	CANCEL-2 Whatever a server does, a request ends within Within. At most Most are under way, and
//	         as many as Waiting wait; others are dropped, and count.
//	CANCEL-3 Each request counts once: as heard if the server took it and closed the connection
//	         without a word, else as failed or dropped.
//	CANCEL-4 Behind End nothing is under way.
//
// Example:
//
//	crew := cancel.New()
//	crew.Ask(cancel.Errand{Server: peer, Say: conn.Cancel()})
//	counts := crew.End(time.Second)
//
// Read crew.go, errand.go.
package cancel
