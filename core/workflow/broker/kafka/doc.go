// Package kafka has the words of Kafka: kafka.client, kafka.plain, kafka.scram, kafka.oauthbearer, kafka.produce, kafka.consume,
// and what functions ask by vu.kafka.
//
// It sends nothing: core/workflow/request has the requests as plain data, and runtime/engine carries them.
//
// Source: docs/workflows.md; kafka.apache.org/protocol.
//
// Invariants:
//
//	BROKERKAFKA-1 A topic that no cluster could have is found when the file loads, but for what values make of it.
//
// Example:
//
//	all["kafka"] = kafka.Namespace("kafka", nil, describe)
//
// Read client.go, produce.go, consume.go.
package kafka
