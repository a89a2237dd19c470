// Package remote asks the HTTP API of gates what a client asks their own ports: it sends a question of the catalogue
// to POST /v1/ask, and returns the catalogue's answers as they come.
//
// It shows nothing and decides nothing about jobs. Inside each gate a core/client follows the owners of jobs, so one
// gate that answers is enough. This package tries the next gate, waits as a busy gate asks it to, and continues a
// watch whose stream broke.
//
// Source: docs/api.md, "Frames"; core/client, whose bounds it keeps.
//
// Invariants:
//
//	RMT-1 Each question but a watch ends within Config.Answer: by its answer, or by an error that names each gate
//	      and what it said.
//	RMT-2 A watch has each end of a workflow once and in order, and what it shows never goes back, over any number of
//	      streams.
//	RMT-3 The token goes to the given gates alone, and over HTTPS or loopback alone. No error has it.
//	RMT-4 What a gate or a proxy sends is bounded: frames, bodies of errors, waits, silence.
//
// An example:
//
//	c, err := remote.New(remote.Config{URLs: urls, Token: token, Note: note, Reach: 10 * time.Second, Answer: 90 * time.Second})
//	asked := c.Command(ctx, &message.JobWatch{Job: job})
//	for m := range asked.Answers() { ... }
//
// Read client.go, ask.go, watch.go, call.go, failure.go.
package remote
