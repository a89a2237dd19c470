// Package pool carries the requests of a run: it has their slots, and the connections, streams,
// handshakes, tunnels and look-ups that bring them to a host and their answers back.
//
// It is not a client library: it retries nothing, follows no redirect and looks into no answer.
// It does not know what a request is for: runtime/engine has steps, users and functions, and
// answers the questions of the interface Requests. It knows no clock but the run's.
//
// A RequestSlot is a place for one request at a time: what is known of it while it is under
// way. A conn is a connection; while it carries nothing, its user keeps it. Over HTTP/2 a conn
// has a multi, and each of its streams is the request of a slot. Such connections, and those
// of HTTP/1.1 that all users share, belong to a pool of their host, where slots wait for a
// free one. A trunk is a multi whose streams are exchanges of messages: runtime/engine/pool/trunks. A connection is fed what was read, then the pools are looked at, then what was
// queued is written: once, however many streams it is about.
//
// The seam for protocols is runtime/protocol/codec: a multi asks nothing else of a protocol, and
// Options name it. HTTP/1.1 keeps a way of its own, in wire.go.
//
// Source: DESIGN.md, "Execution"; RFC 9110, RFC 9112, RFC 9113.
//
// Invariants:
//
//	POOL-1 A request starts when it is about to be put on the wire, connecting included, and is
//	       put there at most once. Sent counts those whose last byte the kernel took.
//	POOL-2 A server may answer before it has the request: the answer counts, the rest is not
//	       sent. Of a host's addresses, one that never answers leaves time for the others.
//	       An end under TLS without close_notify ends no body that has no length.
//	POOL-3 A timeout runs from when a request is put on its way: one that waits in a pool has not
//	       started. It waits as long as anything of its pool is under way.
//	POOL-4 A stream whose time is over is reset, and its connection lives on, unless nothing was
//	       read from it for that long and it does not answer PING, or takes no bytes. GOAWAY, an
//	       end or a fault of a connection ends its streams, each with what it means for that one.
//	POOL-5 A request in a slot ends once, with Answered or Failed, and not while it is started:
//	       what breaks then ends in a later turn.
//	POOL-6 A cancelled run sends no request that waits in a pool.
//	POOL-7 A connection that is upgraded belongs to one user, between exchanges too. One that carries
//	       more than an exchange asked for, or less than it sent, carries no further one.
//	POOL-8 A connection whose session takes no more is not read until ReadOn, but for its end.
//
//	POOL-9 The loop does not wait before an island's goroutines that it fed had their turn and what they
//	       tell is taken. What is said on a connection before its end has its effect before that.
//
//	POOL-10 A second connection goes from the first one's address to the server's, and ends with it. Under
//	       TLS it takes up the first one's session, and only close_notify ends it in order.
//
// Example:
//
//	c, err := pool.NewConnections(pool.Options{Workflow: w, VUs: 64, Slots: 64, Hosts: hosts, Names: names})
//	c.Requests = requests
//	c.Wire.Dispatch(index) // the slot of this index has a request
//
// Read connections.go, slot.go, sockets.go, dialer.go, names.go, sources.go;
// wire.go; pools.go, streams.go, dialogue.go, talks.go, lively.go, sessions.go, pins.go, branches.go, islands.go; secure.go, tlsoptions.go, tunnels.go.
package pool
