// Package digest answers the challenges of digest authentication: it reads what a server asks
// for, and writes the proof that a user knows a password.
//
// It is not a client: it sends nothing, and does not know which requests need a proof. It reads
// no clock and draws no random number: its caller passes the client's nonce.
//
// Source: RFC 7616; RFC 2069 for servers that name no qop; RFC 9110, 11.6.1 for the syntax.
//
// Invariants:
//
//	DIGEST-1 No two proofs of a Session have the same nonce count, and each is one more than the
//	         one before it.
//	DIGEST-2 What a server sends is bounded: Parse takes no more than ChallengeMax bytes. A proof
//	         has no control character in it, and each text stays inside its quotes.
//	DIGEST-3 A proof contains neither the password nor a hash of it alone. No error does.
//	DIGEST-4 A challenge that Parse cannot answer is an error with the reason: qop=auth-int alone,
//	         or another algorithm.
//
// An example:
//
//	challenge, err := digest.Parse(fields) // the values of WWW-Authenticate
//	session := digest.NewSession(challenge, "ann", "secret", cnonce)
//	value := session.Append(nil, "GET", "/index.html") // of Authorization
//
// Read challenge.go, session.go, wallet.go.
package digest
