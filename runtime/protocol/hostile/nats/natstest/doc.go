// Package natstest runs the real nats-server for tests, on ports of its own.
//
// It is not a client for anything else: it speaks to the server in lines of text, and shares no code with
// the codec, so that what the server counts judges what the codec counts.
//
// A test that calls Start fails in CI if nats-server is missing, and is skipped elsewhere.
//
// Example:
//
//	s := natstest.Start(t, "jetstream {}")
//	... run against s.URL() ...
//	in, out := s.Settled() // messages that the server took, and gave
//
// Read server.go, client.go, operator.go.
package natstest
