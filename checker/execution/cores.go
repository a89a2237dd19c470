package execution

import (
	"maps"
	"slices"
	"time"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// worker is who holds which core, in one incarnation.
type worker struct {
	incarnation uint64
	holder      map[int]held
	datacenter  string // where its shards are
}

// held is the attempt that holds a core.
type held struct {
	shard message.ShardID
	fence message.Fence
}

// of returns the worker's cores. A new incarnation holds none: its executors
// died with the old one.
func (j *Judge) of(r history.Record) *worker {
	w := j.workers[r.Node]
	if w == nil || w.incarnation != r.Incarnation {
		w = &worker{incarnation: r.Incarnation, holder: map[int]held{}}
		j.workers[r.Node] = w
	}
	return w
}

// Over notes that an incarnation of a node is over, and with it its executors.
func (j *Judge) Over(id node.ID) { delete(j.workers, id) }

// JobEnd tells when a job ended; false: it has not.
type JobEnd func(job message.JobID) (time.Duration, bool)

// KeepsNoCore judges that no worker holds a core for a job that ended at least bound
// ago. It judges workers that the history heard of since: one that died with the core
// cannot tell. Nor can one that is paused, even if it woke for a moment.
func (j *Judge) KeepsNoCore(now, bound time.Duration, jobs JobEnd) {
	for _, id := range slices.Sorted(maps.Keys(j.workers)) {
		w := j.workers[id]
		if _, running, known := j.nodes.Clock(id, w.incarnation); known && !running {
			continue // it has died since, and its executors with it
		}
		if j.nodes.Assume.Paused != nil && j.nodes.Assume.Paused(id) {
			continue
		}
		for _, core := range slices.Sorted(maps.Keys(w.holder)) {
			run := w.holder[core]
			if ended, over := jobs(run.shard.Job); over && ended <= now-bound && ended < j.nodes.LastHeard(id) {
				j.log.Violate("T9", history.Record{At: now, Node: id}, "core %d is held by shard %v under %v, whose job ended at %v", core, run.shard, run.fence, ended)
			}
		}
	}
}

func (j *Judge) takeCores(r history.Record, e event.ShardStarted) {
	w := j.of(r)
	w.datacenter = e.Datacenter
	if len(e.Cores) == 0 {
		j.log.Violate("T9", r, "shard %v under %v started on no core", e.Shard, e.Fence)
	}
	for _, core := range e.Cores {
		if core < 0 || core >= e.Total {
			j.log.Violate("T9", r, "shard %v was given core %d of %d", e.Shard, core, e.Total)
		}
		if other, ok := w.holder[core]; ok {
			j.log.Violate("T9", r, "core %d was given to shard %v under %v while %v under %v holds it", core, e.Shard, e.Fence, other.shard, other.fence)
		}
		w.holder[core] = held{e.Shard, e.Fence}
	}
	j.runsAlone(r, w, e)
}

// runsAlone judges T6 within one worker: a higher attempt of a shard starts when
// the executors of the lower one are gone.
func (j *Judge) runsAlone(r history.Record, w *worker, e event.ShardStarted) {
	for core := range e.Total {
		if other, ok := w.holder[core]; ok && other.shard == e.Shard && other.fence != e.Fence {
			j.log.Violate("T6", r, "shard %v was started under %v while it still ran there under %v", e.Shard, e.Fence, other.fence)
			return
		}
	}
}

// Ended frees the cores of an attempt.
func (j *Judge) Ended(r history.Record, e event.ShardEnded) {
	w := j.of(r)
	run := held{e.Shard, e.Fence}
	var cores []int
	//lint:orderfree the cores are sorted below
	for core, holder := range w.holder {
		if holder == run {
			cores = append(cores, core)
		}
	}
	slices.Sort(cores)
	freed := slices.Sorted(slices.Values(e.Cores))
	if !slices.Equal(cores, freed) {
		j.log.Violate("T9", r, "shard %v under %v freed cores %v but held %v", e.Shard, e.Fence, freed, cores)
	}
	for _, core := range cores {
		delete(w.holder, core)
	}
	j.endsAttempt(r, w, e)
}
