package account

import (
	"maps"

	"hyperscale/checker/history"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Judge judges what the managers and gates of one history dispatch and count.
type Judge struct {
	log *history.Log
	seq uint64 // number of the last dispatch or count of a shard

	given     map[given]message.Fence // T3: the highest fence that it dispatched under
	abandoned map[abandoned]bool      // T3

	courses map[flow]*course // T7
	flows   map[flow]message.WorkflowState
	places  map[node.ID]string // T7: datacenters of managers

	shards    map[counted]told     // T8
	subjobs   map[subjobOf]bool    // T8
	reported  map[subjobSum]uint64 // T8: starts counted, by manager and subjob
	latest    map[shardOf]latest   // T8
	inherited map[subjobOf]uint64  // T8: starts counted, by subjob
	segments  map[segment]uint64   // T8: the incarnation that counted it first
	former    map[segment]bool     // segments of managers that have lost their disks since: a result that holds them may be on its way
	lost      map[attempt]uint64   // T8: starts of lost attempts that count
	sums      map[message.JobID]Sum
}

// New returns a judge of an empty history.
func New(log *history.Log) *Judge {
	return &Judge{
		log: log, given: map[given]message.Fence{}, abandoned: map[abandoned]bool{},
		courses: map[flow]*course{}, flows: map[flow]message.WorkflowState{}, places: map[node.ID]string{},
		shards: map[counted]told{}, subjobs: map[subjobOf]bool{}, reported: map[subjobSum]uint64{},
		latest: map[shardOf]latest{}, inherited: map[subjobOf]uint64{}, sums: map[message.JobID]Sum{},
		segments: map[segment]uint64{}, former: map[segment]bool{}, lost: map[attempt]uint64{},
	}
}

// Sum is what gates counted of a job's subjobs.
type Sum struct {
	Started   uint64
	Completed int
}

// Sum returns what gates counted of a job.
func (j *Judge) Sum(job message.JobID) Sum { return j.sums[job] }

// ManagerOf notes the datacenter that a manager belongs to.
func (j *Judge) ManagerOf(datacenter string, id node.ID) { j.places[id] = datacenter }

// next numbers dispatches and counts of shards.
func (j *Judge) next() uint64 {
	j.seq++
	return j.seq
}

// shardOf is a shard in a datacenter: each datacenter numbers its shards.
type shardOf struct {
	datacenter string
	shard      message.ShardID
}

// Forget notes that a node has lost its disk, and with it what it dispatched and counted.
func (j *Judge) Forget(id node.ID) {
	maps.DeleteFunc(j.shards, func(s counted, _ told) bool { return s.manager == id })
	maps.DeleteFunc(j.reported, func(p subjobSum, _ uint64) bool { return p.manager == id })
	maps.DeleteFunc(j.segments, func(s segment, _ uint64) bool {
		if s.manager == id {
			j.former[s] = true
		}
		return s.manager == id
	})
	maps.DeleteFunc(j.given, func(g given, _ message.Fence) bool { return g.giver == id })
	maps.DeleteFunc(j.courses, func(f flow, _ *course) bool { return f.manager == id })
	maps.DeleteFunc(j.flows, func(f flow, _ message.WorkflowState) bool { return f.manager == id })
}
