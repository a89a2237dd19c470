// Package http3 is a server of HTTP/3 that misbehaves as it is asked to, and the catalogue of such behaviours
// with the conclusion that a client must draw.
//
// It is not runtime/protocol/hostile (HTTP/1.1 and HTTP/2). QUIC is quic-go's; frames are written by hand, so
// that they can be wrong. Tests import it alone.
//
// Invariants:
//
//	HOSTILEHTTP3-1 The first request meets the behaviour, and each further one is answered well, on whatever
//	          connection it comes.
//	HOSTILEHTTP3-2 Each request that came whole counts once.
//	HOSTILEHTTP3-3 Close ends all goroutines and sockets.
//
// Read entry.go, server.go, catalogue.go.
package http3
