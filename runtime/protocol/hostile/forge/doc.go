// Package forge seals records of TLS that the library never sends, with the keys of its key log.
//
// It is no TLS: it only adds to a connection on which crypto/tls has made the handshake.
//
// Example:
//
//	f := &forge.Forger{}
//	tap := &forge.Tap{Conn: socket}
//	config.KeyLogWriter = f
//	secure := tls.Server(tap, config)
//	f.KeyUpdates(socket, tap)
//
// Read forge.go.
package forge
