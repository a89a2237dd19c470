// Package authority makes the certificates of hostile's servers: one authority a process, the
// honest configuration of TLS, and those that differ from it in one thing.
//
// Example:
//
//	client.RootCAs = authority.Roots()
//	server := authority.Certified(func(c *x509.Certificate) { c.IPAddresses = nil })()
//
// Read authority.go.
package authority
