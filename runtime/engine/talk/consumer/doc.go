// Package consumer remembers where the consumers of a Kafka cluster are: each has the topics of one step and
// the offsets of one user, and reads on where its last operation stopped.
//
// It asks nothing and measures nothing: runtime/engine/talk says which brokers lead, and takes the answers.
//
// Invariants:
//
//	CONSUMER-1 A position moves only behind what has come, and each record that came once is not asked for again.
//	CONSUMER-2 A partition that a broker knows no offset of begins where the consumer began.
//	CONSUMER-3 Each leader has its turn: none is asked twice before the others were.
//
// Example:
//
//	c := all.Of(user, []string{"orders"}, kafka.Earliest)
//	c.Fit("orders", 3)
//	next, asks := c.Next(func(topic string, partition int32) any { return leaders[partition] }, nil)
//	c.Moves(asks, answer.Found)
//
// Read consumer.go, member.go, desk.go, json.go.
package consumer
