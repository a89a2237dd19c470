// Package amqptest runs the real RabbitMQ for tests, on ports, in a directory and under a node's name of its
// own.
//
// It is not a client for anything else: it speaks to the server in frames that it builds by hand, and shares
// no code with the codec, so that the length of the server's queues judges what the codec counts.
//
// RabbitMQ needs seconds to start, so a package of tests starts one and shares it: each test has queues of its
// own. A test that calls Start fails in CI if rabbitmq-server is missing, and is skipped elsewhere.
//
// Example:
//
//	s := amqptest.Start(t)
//	own := s.Dial()
//	own.Declare("jobs")
//	... run against s.URL() ...
//	n := own.Settled("jobs") // messages of the queue that wait
//
// Read server.go, client.go.
package amqptest
