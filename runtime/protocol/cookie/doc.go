// Package cookie is one virtual user's jar: what servers set, and what the user sends back.
//
// It is not a browser's: there is no site and no document, so SameSite and HttpOnly change
// nothing. It reads no clock and does no I/O; its caller passes the time.
//
// Source: draft-ietf-httpbis-rfc6265bis, 5 (user agent requirements), and the public
// suffix list in golang.org/x/net.
//
// Invariants:
//
//	COOKIE-1 A jar holds at most CookiesMax cookies, DomainMax of a domain, each of at most
//	         BytesMax bytes in name and value. A new one displaces the expired, then the
//	         insecure, then those unused for longest.
//	COOKIE-2 A cookie goes to hosts that its domain matches, and no domain is a public
//	         suffix; __Secure- and __Host- names keep what they promise.
//	COOKIE-3 Nothing that a server sends makes a jar fail: it ignores what is wrong.
//	COOKIE-4 The zero Jar is empty and ready; a user without cookies has none at all.
//
// Read jar.go, parse.go, match.go, date.go.
package cookie
