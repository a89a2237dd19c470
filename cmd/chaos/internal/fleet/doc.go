// Package fleet is workers without executors: thousands of streams to one manager. Each sends its
// heartbeat a second, accepts what it is given, and reports figures as often as the manager asks.
//
// They run no shard, persist no fence and are no members of the manager's group. What they report is the same for all. So
// this process costs the machine less than the manager that it measures.
//
// Invariants:
//
//	FLEET-1 Workers begin their second at instants that are drawn, not at once: a manager gets as
//	        many messages together as chance gives.
//	FLEET-2 A count says what this process sent and what reached it. What the fleet could not send in
//	        time counts as late.
//
// Read fleet.go, then worker.go.
package fleet
