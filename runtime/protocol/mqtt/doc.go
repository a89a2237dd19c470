// Package mqtt is the load engine's MQTT codec, of versions 3.1.1 and 5: the client's side of one connection.
//
// It is not a client: it owns no socket, no clock, no goroutine and no retry, keeps no session in a file and
// sends nothing again. An operation is one message that goes out. Nothing ends one of QoS 0, a PUBACK one of
// QoS 1, and PUBREC, PUBREL, PUBCOMP one of QoS 2.
// Source: the OASIS standards MQTT 3.1.1 and 5.0. It announces no topic aliases and no receive maximum.
//
// Invariants:
//
//	MQTT-1 However the server's bytes are cut, the outcome is the same.
//	MQTT-2 No input makes the codec panic, and what it keeps is bounded: a message by Config.MessageMax,
//	       another packet by controlMost, user properties by fieldsMost, idleMost packets in a row.
//	MQTT-3 An acknowledgement belongs to the operation whose packet identifier it names. One that no open
//	       operation waits for is counted, and ends nothing.
//	MQTT-4 An identifier is free again when the server has completed its exchange, and never before.
//	MQTT-5 A message counts as sent when the kernel has its last byte, and never otherwise.
//	MQTT-6 Nothing goes out that exceeds what the server's CONNACK allows: size, QoS, retain, and how many
//	       exchanges are open.
//	MQTT-7 A message of QoS 2 is reported once, however often the server sends it.
//	MQTT-8 An error and what Describe writes hold no password.
//
// Example:
//
//	protocol, err := mqtt.New(mqtt.Config{Version: mqtt.Version5, User: "app", Password: password})
//	greeting := protocol.Greet("load-7", nil)
//	out, used, conn, err := greeting.Hear(greeting.Begin(nil), received)
//	operation := mqtt.Compile(mqtt.Version5, mqtt.Message{QoS: 1, Topic: mqtt.Plain("dev/1/t"), Data: mqtt.Plain("21.5")})
//	err = conn.Operate(operation, mqtt.Order{Sent: &sent})
//	err = conn.Feed(received, listener) // Message: see conn.Outcome
//
// Read protocol.go, packet.go, properties.go, operation.go, greeting.go; conn.go, asked.go, received.go,
// intake.go; fault.go, describe.go.
package mqtt
