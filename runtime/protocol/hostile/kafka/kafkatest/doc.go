// Package kafkatest starts brokers for tests: kfake, as a process of a module of its own (bench/servers),
// with a control line on its input; and kcat, with the mock cluster and a consumer of librdkafka.
//
// Invariants:
//
//	KAFKATEST-1 Each test has a cluster of its own, on free ports, that ends with it.
//	KAFKATEST-2 The program is built once, however many tests ask for it at the same time.
//
// Example:
//
//	c := kafkatest.Start(t, "-brokers", "3", "-topics", "orders:3")
//	before := c.End("orders")
//
// Read cluster.go, mock.go.
package kafkatest
