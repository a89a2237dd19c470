// Package signing makes the signatures that workflow files ask for: JSON Web
// Tokens and AWS requests.
//
// It is not a general library of cryptography: it verifies nothing, keeps no
// keys and has no source of randomness. All that it computes follows from its
// arguments alone (ECDSA by RFC 6979), so that a run can be repeated.
//
// Source: RFC 7515 and 7518 (JWS), RFC 7519 (JWT); AWS's "Signature Version 4 for API
// requests".
//
// Invariants:
//
//	SIGN-1 Same arguments, same bytes.
//	SIGN-2 Keys are bounded before they are parsed: a PEM text by PEMMax, an RSA
//	       key by RSABitsMax.
//	SIGN-3 An error says which argument is wrong and what to do about it.
//
// Read key.go, jwt.go, aws.go.
package signing
