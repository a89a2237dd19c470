// Package certs holds the certificates of a node, verifies those of its peers, and reads from both
// what they claim: role, cluster, environment, datacenter, node, and a client's right.
//
// It opens no connection and compares nothing with a Hello by itself: runtime/transport does. It is
// no authority: Issue makes the certificates of test clusters alone.
//
// Source: DESIGN.md, "Messages"; spec row F4. Claims are URIs among a certificate's alternative
// names, as in hyperscale://role/gate. Addresses and host names count for nothing.
//
// Invariants:
//
//	CERTS-1 A store has one certificate, its key and its authorities, read together: files that do
//	        not fit each other, or this node, change nothing.
//	CERTS-2 Verify accepts a chain to an authority of the file as it is now, at this time, for this
//	        direction. No session is resumed, so each new stream is verified.
//	CERTS-3 Claims come from a verified certificate alone. One without a claim does not fit.
//	CERTS-4 A rejection names the reason, the field, both values and a remedy. No error contains a
//	        key.
//
// Read claims.go, verify.go, store.go, issue.go.
package certs
