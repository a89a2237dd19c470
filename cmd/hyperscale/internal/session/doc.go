// Package session connects a command to the gates of a cluster, by their own ports or by their HTTP API. It sends a request, waits a
// bounded time for the answer, and explains a gate's rejection.
//
// It retries nothing itself: core/client asks the next gate, and runtime/api/remote the next API.
//
// Source: docs/operations.md; core/client, whose machine it runs.
//
// Invariants:
//
//	SES-1 Every wait ends, with an answer or with an error that names the gates.
//
// An example:
//
//	s, err := session.Dial(&flags, logger)
//	defer s.Close()
//	answer, err := s.Ask(ctx, &message.JobQuery{Job: job})
//
// Read flags.go, session.go, history.go.
package session
