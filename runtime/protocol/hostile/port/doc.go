// Package port accepts connections for the hostile servers of each protocol, and leaves nothing
// behind.
//
// It knows no protocol: a catalogue gives Serve what one connection does. It is for tests alone.
//
// Invariants:
//
//	PORT-1 Close returns when each connection has ended. It closes those that their client keeps
//	       open for longer than a second.
//	PORT-2 Connections have numbers in the order in which the kernel accepted them.
//
// Example:
//
//	p, err := port.Open()
//	p.Serve(func(c *net.TCPConn, number int) { ... })
//	... a client connects to p.Address() ...
//	p.Close()
//
// Read port.go.
package port
