// Package mqtttest starts mosquitto servers for tests, each on free ports with a directory of its own.
//
// It is no client and judges nothing: it reads what the server itself counts, in its topics below $SYS and in
// its log.
//
// Invariants:
//
//	MQTTTEST-1 A server ends with its test.
//	MQTTTEST-2 Counts read behind Settled hold all that clients sent before their connections ended.
//
// Example:
//
//	s := mqtttest.Start(t, "")
//	before := s.Received("dev/1/t")
//
// Read server.go, counts.go.
package mqtttest
