// Package group has what a member of a classic Kafka consumer group says to its coordinator, what that answers,
// and how a leader assigns partitions.
//
// It sends nothing and keeps nothing: runtime/protocol/kafka carries the requests, and
// runtime/engine/talk/consumer has the member. Cooperative rebalances and static members are not here.
// Source: kafka.apache.org/protocol; KIP-62; ConsumerProtocol, RangeAssignor and RoundRobinAssignor of Apache Kafka.
//
// Invariants:
//
//	KAFKAGROUP-1 No input makes it panic, and a list reserves no memory before its bytes have come.
//	KAFKAGROUP-2 A leader assigns each partition of a subscribed topic to one member that subscribes it.
//	KAFKAGROUP-3 However the coordinator orders the members, they get the same partitions.
//
// Example:
//
//	request := group.Join(group.Membership{Group: "load", Member: id}, group.Range, topics)
//	answer, ok := group.Read(group.JoinGroup, body)
//	all := group.Assign(answer.Assignor, answer.Members, partitions)
//
// Read request.go, answer.go, assign.go.
package group
