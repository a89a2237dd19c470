// Package scram proves a password without sending it: the client's side of SCRAM-SHA-1,
// SCRAM-SHA-256 and SCRAM-SHA-512, and of the same with channel binding (PLUS).
//
// It owns no socket and no clock. A password is salted in slices, so that a loop with many
// connections never waits for one of them, and a cache keeps the salted ones: servers salt a
// user's password once. Names and passwords are taken as they are, without SASLprep: those of
// ASCII are the same with it.
// Source: RFC 5802, RFC 5929, RFC 7677.
//
// Invariants:
//
//	SCRAM-1 A server that does not know the password fails the authentication.
//	SCRAM-2 No server makes a call derive more than a slice, or a password more than IterationsMost.
//	SCRAM-3 The cache keeps cachedMost salted passwords, those that were used last.
//	SCRAM-4 No error has the password in it.
//	SCRAM-5 A proof that is bound to one channel is none on another, and a server that sees a client
//	        which could bind, and was offered nothing, can tell.
//
// Example:
//
//	client := scram.New(scram.SHA256, "user", password, nonce, cache)
//	first := client.First(nil)
//	final, done, err := client.Final(nil, serverFirst) // until it is done
//	err = client.Verify(serverFinal)
//
// Read client.go, cache.go, binding.go.
package scram
