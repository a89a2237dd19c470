// Package broker has the words of brokers: nats.client, nats.publish, nats.request, mqtt.client, mqtt.publish,
// mqtt.connect, and what functions send, subscribe to and pull by vu.nats and vu.mqtt.
//
// It sends nothing: core/workflow/request has the requests as plain data, and runtime/engine carries them.
//
// Source: docs/workflows.md; the client protocol of docs.nats.io; MQTT 3.1.1 and 5.
//
// Invariants:
//
//	BROKER-1 A subject that no server would take as it is written is found when the file loads, but for
//	         what values make of it. So is a topic.
//	BROKER-2 A step whose virtual users would throw each other out, as they have one client identifier, does
//	         not load; nor do two steps that would do so.
//
// Example:
//
//	all["nats"] = broker.NATS("nats", nil, describe)
//
// Read nats.go, pull.go, target.go, subject.go; mqtt.go, mqttclient.go, topic.go.
package broker
