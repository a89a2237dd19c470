package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"fmt"
	"time"
)

// WorkerState says how a worker stands in one subjob. Values are on the wire: never
// renumber.
type WorkerState uint8

// The states of a worker in a subjob.
const (
	WorkerNone     WorkerState = iota
	WorkerAssigned             // it was given a shard, and has not said that it runs
	WorkerRunning              // it runs one
	WorkerDraining             // the same, and it takes no other
	WorkerSuspect              // the same, and its fellows do not hear it
	WorkerAway                 // the same, and its stream is broken: what it told last stands
	WorkerDone                 // its shards have ended
	WorkerLost                 // its attempts were given up, and what they told counts nowhere
)

func (s WorkerState) String() string {
	names := [...]string{"NONE", "ASSIGNED", "RUNNING", "DRAINING", "SUSPECT", "AWAY", "DONE", "LOST"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("WORKER_STATE_%d", uint8(s))
}

// WorkerShare is what one worker does, or did, of a subjob: for people's eyes, nothing
// is decided by it. Its counts are of measured steps; those of all shares add up to
// the subjob's. What runs at the same time is told at its most: layers follow each other.
type WorkerShare struct {
	Node       string        `msg:"node"`   // empty: all those that there was no room for
	Others     uint32        `msg:"others"` // how many they are
	State      WorkerState   `msg:"state" require:"true"`
	CoresTotal uint32        `msg:"cores_total"` // that it has; zero when this manager never met it
	Cores      uint32        `msg:"cores"`       // of those, for this subjob
	VUs        uint64        `msg:"vus"`         // given to it
	Active     uint64        `msg:"active"`      // virtual users now
	Elapsed    time.Duration `msg:"elapsed"`     // in which it sent load
	Lost       uint32        `msg:"lost"`        // attempts that were given up
	Started    uint64        `msg:"started"`
	Sent       uint64        `msg:"sent"`
	OK         uint64        `msg:"ok"`
	Failed     uint64        `msg:"failed"`
	TimedOut   uint64        `msg:"timed_out"`
	Cancelled  uint64        `msg:"cancelled"`
	Dropped    uint64        `msg:"dropped"`
	Skipped    uint64        `msg:"skipped"`
	BytesIn    uint64        `msg:"bytes_in"`
	BytesOut   uint64        `msg:"bytes_out"`
	Late       time.Duration `msg:"late"`     // 99 of 100 of a shard's starts were late by at most this: the worst shard; of others not known
	BusyMax    uint32        `msg:"busy_max"` // busiest second of an executor's loop, parts per million
	Saturated  bool          `msg:"saturated"`
}
