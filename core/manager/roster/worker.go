package roster

import (
	"maps"
	"slices"

	"hyperscale/core/admission"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// Worker is what the manager knows about one worker. Only methods of its roster change its
// fields.
type Worker struct {
	Number   uint64 // of its timer
	Peer     node.Peer
	Stream   node.StreamID // zero while there is none
	Draining bool
	Suspect  bool            // by the membership: it gets nothing new
	Slots    admission.Slots // of its last heartbeat
	Spared   node.Instant    // it refused a shard for its load: it gets none before this time; zero: it may
	Total    uint32          // cores
	Reported uint32          // free cores of its last heartbeat or refusal, at most Total
	Seats    uint32          // free ones of the same, on cores that light shards share
	Held     Held            // the workflow that it is kept for, as it told last on this stream
	Sequence uint64          // of its last heartbeat on this stream, zero before the first
	Running  []message.ShardRef
	listed   map[message.ShardID]message.Fence // the same, by shard
	given    map[message.ShardID]Given         // live attempts
	shards   []message.ShardID                 // of given, in their order; nil after a change
	owed     owed                              // of given, what its last heartbeat does not list
	counted  bool                              // among the loaded ones of its roster
	circuit  retry.Circuit                     // around its machine
	tripped  node.Instant                      // it gets none before this time, as its machine is broken; zero: it may
}

// Given is an attempt that a worker got.
type Given struct {
	Fence message.Fence
	Cores uint32 // of the free ones
	Seats int    // of the free ones; below 0: its core has more for other light shards
}

// Held is a workflow that a worker is kept for. Zero: none.
type Held struct {
	Job      message.JobID
	Workflow uint32
	Known    bool // to all managers that the worker is connected to
}

// Of says that it is a workflow's.
func (h Held) Of(job message.JobID, workflow uint32) bool {
	return h.Job == job && h.Workflow == workflow
}

// Takes is an attempt of a shard with that many executors, at what it takes of the worker now.
func (w *Worker) Takes(f message.Fence, executors uint32, t message.Tenancy) Given {
	g := Given{Fence: f, Cores: executors} // of TenancyJob as if no core were shared: one that shares it may end first
	switch {
	case t == message.TenancyMachine:
		g.Cores = w.Free()
	case t != message.TenancyLight:
	case w.FreeSeats() > 0:
		g.Cores, g.Seats = 0, 1
	case w.Free() > 0:
		g.Seats = 1 - message.CoreSeats
	}
	return g
}

// told is what a heartbeat says of a worker, beside the shards that it lists.
type told struct {
	draining           bool
	total, free, seats uint32
	slots              admission.Slots
}

func (w *Worker) told() told {
	return told{draining: w.Draining, total: w.Total, free: w.Reported, seats: w.Seats, slots: w.Slots}
}

// list indexes the shards that its last heartbeat lists.
func (w *Worker) list() {
	if clear(w.listed); w.listed == nil {
		w.listed = make(map[message.ShardID]message.Fence, len(w.Running))
	}
	for _, ref := range w.Running {
		w.listed[ref.Shard] = ref.Fence
	}
}

// Free is what it reported, less what it got since.
func (w *Worker) Free() uint32 {
	return w.Reported - min(w.Reported, w.owed.cores)
}

// FreeSeats are the seats that it reported, less those that it got since.
func (w *Worker) FreeSeats() uint32 {
	return uint32(max(0, int(w.Seats)-w.owed.seats))
}

// owed is what a worker's last heartbeat counts as free and a manager has given away.
type owed struct {
	cores uint32
	seats int
}

// reckon sums what it got and its last heartbeat does not list. A manager asks for the free cores of each worker
// several times a second, and seldom changes them.
func (w *Worker) reckon() {
	var cores uint32
	var seats int
	//lint:orderfree sums
	for id, g := range w.given {
		if f, ok := w.listed[id]; !ok || f != g.Fence {
			cores, seats = cores+g.Cores, seats+g.Seats
		}
	}
	w.owed = owed{cores, seats}
}

// Lists returns the fence under which its last heartbeat lists a shard.
func (w *Worker) Lists(id message.ShardID) (message.Fence, bool) {
	f, ok := w.listed[id]
	return f, ok
}

// Has says that it got a shard under this fence and still has it.
func (w *Worker) Has(id message.ShardID, f message.Fence) bool {
	g, ok := w.given[id]
	return ok && g.Fence == f
}

// Given returns the shards that it got, in their order. The caller must not change the list.
func (w *Worker) Given() []message.ShardID {
	if w.shards == nil && len(w.given) > 0 {
		w.shards = slices.SortedFunc(maps.Keys(w.given), message.ShardID.Compare)
	}
	return w.shards
}

// Stands says that the worker is connected.
func (w *Worker) Stands() bool { return w != nil && w.Stream != 0 }

// Loaded says that a worker takes no shard before it has less to do, whatever cores it has.
func (w *Worker) Loaded() bool { return w.Slots.Refuse() || w.Spared != 0 }

// Able says that a worker can take shards, if it has cores and is not loaded.
func (w *Worker) Able() bool { return w.Stands() && !w.Draining && !w.Suspect }
