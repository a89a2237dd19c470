// Package broker has the words of brokers: nats.client, nats.publish, nats.request, mqtt.client, mqtt.publish,
// mqtt.connect, amqp.client, amqp.publish, amqp.get, and what functions send, declare, subscribe to, pull and
// consume by vu.nats, vu.mqtt and vu.amqp.
//
// It sends nothing: core/workflow/request has the requests as plain data, and runtime/engine carries them.
//
// Source: docs/workflows.md; the client protocol of docs.nats.io; MQTT 3.1.1 and 5; the AMQP 0-9-1 specification.
//
// Invariants:
//
//	BROKER-1 A subject that no server would take as it is written is found when the file loads, but for
//	         what values make of it. So is a topic. The same holds for the names and properties of AMQP.
//	BROKER-2 A step whose virtual users would throw each other out, as they have one client identifier, does
//	         not load; nor do two steps that would do so.
//
// Example:
//
//	all["nats"] = broker.NATS("nats", nil, describe)
//
// Read nats.go, pull.go, target.go, subject.go; mqtt.go, mqttclient.go, topic.go; amqp.go, amqpdeclare.go, amqpclient.go.
package broker
