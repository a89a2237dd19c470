package execution

import (
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Judge judges what the workers of one history run.
type Judge struct {
	nodes    *history.Nodes
	log      *history.Log
	workers  map[node.ID]*worker
	started  map[run]node.ID         // T6
	ran      map[Shard]message.Fence // P: the first attempt
	begun    map[Shard]message.Fence // the highest that a worker has started
	attempts map[Shard]attempt       // T13
	doubted  map[doubt]attempt       // T13
}

// New returns a judge of an empty history.
func New(nodes *history.Nodes, log *history.Log) *Judge {
	return &Judge{
		nodes: nodes, log: log, workers: map[node.ID]*worker{},
		started: map[run]node.ID{}, ran: map[Shard]message.Fence{}, begun: map[Shard]message.Fence{},
		attempts: map[Shard]attempt{}, doubted: map[doubt]attempt{},
	}
}

// Shard is a shard in a datacenter: shards are named anew in each.
type Shard struct {
	Datacenter string
	ID         message.ShardID
}

// run is one run of a shard.
type run struct {
	shard Shard
	fence message.Fence
}

// WasStarted says that a worker has started a shard under a fence.
func (j *Judge) WasStarted(s Shard, f message.Fence) bool {
	_, ok := j.started[run{s, f}]
	return ok
}

// Highest returns the highest fence under which a worker has started a shard.
func (j *Judge) Highest(s Shard) message.Fence { return j.begun[s] }

// Started judges T6, then P, T13 and T9. Where a world loses no node, once says that
// no shard runs twice.
func (j *Judge) Started(r history.Record, e event.ShardStarted, once bool) {
	this := run{Shard{e.Datacenter, e.Shard}, e.Fence}
	if first, ok := j.started[this]; ok {
		j.log.Violate("T6", r, "shard %v was started under fence %v, as it had been on %s", e.Shard, e.Fence, first)
	}
	j.started[this] = r.Node
	if once {
		j.startsOnce(r, this)
	}
	j.startsAlone(r, e)
	j.takeCores(r, e)
}

func (j *Judge) startsOnce(r history.Record, this run) {
	if first, ok := j.ran[this.shard]; ok && first != this.fence {
		j.log.Violate("P", r, "shard %v was run again under %v after %v, though no node was lost", this.shard.ID, this.fence, first)
	}
	j.ran[this.shard] = this.fence
}

// FenceStored judges T3 across a crash that takes the write from both sides, and
// with it the proof: what runs under a fence had it on disk before.
func (j *Judge) FenceStored(r history.Record, e event.FenceStored) {
	w := j.of(r)
	if len(w.of(e.Shard, e.Fence)) > 0 {
		j.log.Violate("T3", r, "shard %v was started under %v before that fence was on disk", e.Shard, e.Fence)
	}
}
