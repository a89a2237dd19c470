// Package seal encrypts and authenticates what nodes say to each other: the frames of a stream, and
// datagrams.
//
// It is no transport: runtime/transport reads and writes the bytes. It does not tell one node from
// another: any holder of the secret may speak as any node.
//
// Source: spec rows F1 and F2; RFC 5869 (HKDF), RFC 6479 (replay window), RFC 8446 5.5 (how long a
// key may live). AES-256-GCM and SHA-256 are the standard library's.
//
// Invariants:
//
//	SEAL-1 No two frames or datagrams share a key and a nonce, after a restart, with a lost or a
//	       copied disk, and with a clock that goes backwards: each key depends on random bytes of
//	       this process, each nonce is a counter from 0 on.
//	SEAL-2 An end of a stream accepts only the frames of the other end of the same stream, each
//	       once, in order: a recorded, moved, doubled or reflected frame does not open.
//	SEAL-3 A receiver opens a datagram once while it remembers the sender. After its restart it may
//	       open an old one: datagrams carry only messages that change nothing a second time.
//	SEAL-4 Keys of two clusters, environments or protocol versions differ, with the same secret too.
//	SEAL-5 No error contains a secret or a part of one.
//
// Read secret.go, file.go, ring.go, stream.go, datagram.go, window.go.
package seal
