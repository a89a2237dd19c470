// Package transport carries messages between the nodes of a cluster: streams
// over TCP and datagrams over UDP, on one port.
//
// It decides nothing: it does not reconnect, retry or probe. A stream ends once, with a
// reason, and its user may open another one. TCP's own keep-alive is off: missing heartbeats
// show a silent peer, on either side.
//
// Source: DESIGN.md, "Messages"; spec rows F1 to F5. A stream is a sequence of
// a 4-byte big-endian length and that many bytes of a frame; a datagram is a header and the frame
// of a message. Frames are core/message's. With Config.Keys, runtime/seal's openings come before the
// first length, and frames and datagrams are sealed. With Config.Certs, streams run over TLS instead.
//
// Invariants:
//
//	TRANSPORT-1 It checks a length against its bound before it uses it, and allocates nothing
//	            for bytes that have not arrived.
//	TRANSPORT-2 It delivers nothing of a peer before its Hello fits: major version, cluster,
//	            environment, role, node. The rejection names the field, both values and a
//	            remedy.
//	TRANSPORT-3 Of one stream, messages of one priority leave in the order sent; a higher
//	            priority may overtake. A queue that is full breaks its stream.
//	TRANSPORT-4 Each stream ends with exactly one StreamBroken, or none after Close.
//	TRANSPORT-5 A silent stranger costs a connection for five seconds. There are at most 1,024
//	            of those; the oldest makes room for the next.
//	TRANSPORT-6 Clients have at most half of the places that the limit of open files leaves, one
//	            address half of these. They keep no node out, and no admin connection.
//	TRANSPORT-7 With Config.Keys it delivers only what opens, and says nothing in clear but the
//	            openings and lengths.
//	TRANSPORT-8 Sink is never called from inside a call of node.Network.
//	TRANSPORT-9 One goroutine serves all streams that clients and workers open: sources take turns, each for one
//	            stream and 2 KiB of it. After half a millisecond of work it pauses, and serves meanwhile
//	            clients whose sources have few streams. Under TLS, too. Their
//	            packets wake nothing else: Go's poller does not know their sockets. With a thousand workers
//	            and no client it looks every 2 ms.
//	TRANSPORT-10 With Config.Certs it delivers nothing of a peer before its certificate is verified and
//	            its Hello equals the claims. Peer.Grant comes from the certificate alone.
//	TRANSPORT-11 A peer that only asks (Ask, Echo) opens no stream and reaches no sink; an answer to an
//	            echo has no byte more than its question.
//	TRANSPORT-12 A datagram to a name goes where the peer's newest stream leads, if the name has that address. A node asks
//	            again after 30 s, and after 2 s for an answer without that address. Nothing goes where the newest stream has left.
//
// Read transport.go, stream.go, keys.go, secure.go, handshake.go, greet.go, ask.go, rest.go, crowd.go, hall.go, descriptor.go,
// frame.go, datagram.go, header.go, discover.go, quiet.go.
package transport
