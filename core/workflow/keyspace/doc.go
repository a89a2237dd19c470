// Package keyspace says which slot of a Redis cluster a command belongs to: where its keys stand, and
// what their hash slot is.
//
// It does not know which node has a slot: a cluster tells that while it runs.
// Source: the Redis cluster specification, and the key positions that COMMAND of Redis 7.0 reports.
//
// Invariants:
//
//	KEYSPACE-1 A command that it knows has the keys that a server takes for its keys. Of any other one
//	           it says that it does not know.
//	KEYSPACE-2 A slot is below Slots, and keys with the same hash tag have the same one.
//	KEYSPACE-3 A command that it says reads has a key, and a server has it among those that write nothing.
//
// Example:
//
//	at, known := keyspace.Keys([]string{"MSET", "a", "1", "b", "2"}) // 1 and 3
//	slot := keyspace.Slot("{user:7}.cart")                          // that of user:7
//
// Read slot.go, keys.go, reads.go.
package keyspace
