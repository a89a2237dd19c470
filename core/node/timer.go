package node

import (
	"encoding/binary"
	"fmt"
)

// Part names the owner of a timer. This file lists all parts and their timer kinds, so that no
// two of them collide.
type Part uint8

// The parts that own timers.
const (
	PartNone Part = iota
	PartPing
	PartGossip
	PartClient
	PartGate
	PartManager
	PartWorker
	PartUplink
	PartLease
	PartArchive
	PartSwim
	PartElection
	PartHealth
	PartRegister // test machines around a lease register
	PartDiscovery
)

// Timer kinds of the client.
const (
	ClientTimeout uint8 = iota + 1
	ClientSilence
)

// Timer kinds of the gate.
const (
	GateSilence uint8 = iota + 1
	GateJob
	GateRetry
	GateSweep
	GatePush
	GateQueue
	GateStop
	GateRows
)

// Timer kinds of the manager.
const (
	ManagerHeartbeat uint8 = iota + 1
	ManagerJob
	ManagerDispatch
	ManagerRetry
	ManagerSweep
	ManagerPush
	ManagerWorker
	ManagerDrain
	ManagerSum
)

// Timer kinds of the worker.
const (
	WorkerHeartbeat uint8 = iota + 1
	WorkerRenewal         // of one execution: its deadline
	WorkerShard
	WorkerKill
	WorkerPush
	WorkerRetry
	WorkerSweep
	WorkerDrain
	WorkerHold // its end
)

// Timer kinds of an uplink. The number is Config.Group << 32 | index.
const (
	UplinkReconnect uint8 = iota + 1
	UplinkSilence
	UplinkBeat
)

// Timer kinds of the lease registers.
const (
	LeaseHail   uint8 = iota + 1 // sends hails while the member founds or joins
	LeaseRenew                   // renews what this member holds
	LeaseExpire                  // looks for leases of others that have run out
	LeaseFlush                   // sends the frames that wait
	LeaseSweep                   // drops tombstones
	LeaseRead                    // repeats a read that lacks answers
)

// Timer kinds of the archive.
const (
	ArchiveRetry uint8 = iota + 1
)

// Timer kinds of the membership.
const (
	SwimProbe   uint8 = iota + 1 // the next round
	SwimAck                      // a probe got no answer in time
	SwimRelay                    // a probe on behalf of another member
	SwimSuspect                  // a suspicion of one member ends
	SwimGossip
	SwimPushPull
	SwimReap
	SwimJoin
	SwimHold // evictions stay on hold until then
)

// Timer kinds of the election.
const (
	ElectionTimeout uint8 = iota + 1
	ElectionBeat
	ElectionQuorum
	ElectionStand
)

// Timer kinds of the health.
const (
	HealthLag uint8 = iota + 1
)

// Timer kinds of the discovery. The number is Config.Group << 32 | index.
const (
	DiscoveryRefresh uint8 = iota + 1
)

// TimerKey names one timer of a node. Setting a key again replaces its timer.
type TimerKey struct {
	Part Part
	Kind uint8
	ID   [16]byte // which one: a job id, a peer's number; zero if there is only one
}

// Key names the only timer of its kind.
func Key(p Part, kind uint8) TimerKey { return TimerKey{Part: p, Kind: kind} }

// KeyN names the n-th timer of its kind.
func KeyN(p Part, kind uint8, n uint64) TimerKey {
	k := TimerKey{Part: p, Kind: kind}
	binary.BigEndian.PutUint64(k.ID[8:], n)
	return k
}

// KeyID names the timer of its kind that belongs to id.
func KeyID(p Part, kind uint8, id [16]byte) TimerKey { return TimerKey{Part: p, Kind: kind, ID: id} }

// N returns what KeyN was given.
func (k TimerKey) N() uint64 { return binary.BigEndian.Uint64(k.ID[8:]) }

// Digest folds the key into 64 bits.
func (k TimerKey) Digest() uint64 {
	h := Mix(uint64(k.Part)<<8|uint64(k.Kind), binary.LittleEndian.Uint64(k.ID[:8]))
	return Mix(h, binary.LittleEndian.Uint64(k.ID[8:]))
}

func (k TimerKey) String() string {
	if k.ID == ([16]byte{}) {
		return fmt.Sprintf("timer(%d.%d)", k.Part, k.Kind)
	}
	return fmt.Sprintf("timer(%d.%d %x)", k.Part, k.Kind, k.ID[8:])
}

// Ends names what a timer waits for if that ends at some time: a job, an execution, a request.
// At rest no such timer is set. It is empty for a timer that runs as long as its node.
func (k TimerKey) Ends() string {
	switch (TimerKey{Part: k.Part, Kind: k.Kind}) {
	case Key(PartClient, ClientTimeout):
		return "commands"
	case Key(PartGate, GateJob), Key(PartManager, ManagerJob):
		return "jobs"
	case Key(PartGate, GateRetry):
		return "refused writes"
	case Key(PartGate, GatePush):
		return "watchers"
	case Key(PartGate, GateStop), Key(PartManager, ManagerDrain), Key(PartWorker, WorkerDrain):
		return "drains"
	case Key(PartWorker, WorkerRenewal), Key(PartWorker, WorkerShard), Key(PartWorker, WorkerKill), Key(PartWorker, WorkerPush):
		return "executions"
	case Key(PartLease, LeaseRead):
		return "reads"
	case Key(PartSwim, SwimSuspect):
		return "suspicions"
	case Key(PartSwim, SwimRelay):
		return "relays"
	}
	return ""
}
