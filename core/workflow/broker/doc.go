// Package broker has the words of brokers: nats.client, nats.publish, nats.request, and what functions
// send, subscribe to and pull by vu.nats.
//
// It sends nothing: core/workflow/request has the requests as plain data, and runtime/engine carries them.
//
// Source: docs/workflows.md; the client protocol of docs.nats.io.
//
// Invariants:
//
//	BROKER-1 A subject that no server would take as it is written is found when the file loads, but for
//	         what values make of it.
//
// Example:
//
//	all["nats"] = broker.NATS("nats", nil, describe)
//
// Read nats.go, pull.go, target.go, subject.go.
package broker
