// Package tokens keeps the tokens of the HTTP API: who may call it, and what for.
//
// It knows no HTTP and decides no request: it answers which token a text is.
//
// Source: docs/api.md, "Tokens".
//
// Invariants:
//
//	TOKENS-1 The file holds no token: a SHA-256 of each, which has 256 random bits.
//	TOKENS-2 A file that cannot be read, or has a fault, changes nothing: the tokens that are known stay, and
//	         the fault is reported once.
//	TOKENS-3 The time of a look-up does not depend on how much of a token is right.
//
// An example of a line, name, role, digest and end:
//
//	ci submitter sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 2027-01-01T00:00:00Z
//
// Read token.go, file.go.
package tokens
