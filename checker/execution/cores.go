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
	holders     map[int][]held // of each core, in the order in which they came
	datacenter  string         // where its shards are
}

// held is an attempt that holds a core, and what it shares the core with.
type held struct {
	shard   message.ShardID
	fence   message.Fence
	tenancy message.Tenancy
}

// is says that a core is held by an attempt.
func (h held) is(s message.ShardID, f message.Fence) bool { return h.shard == s && h.fence == f }

// beside says that both may hold a core together.
func (h held) beside(o held) bool {
	switch {
	case h.tenancy != o.tenancy:
		return false
	case h.tenancy == message.TenancyJob:
		return h.shard.Job == o.shard.Job
	}
	return h.tenancy == message.TenancyLight
}

// of returns the worker's cores. A new incarnation holds none: its executors
// died with the old one.
func (j *Judge) of(r history.Record) *worker {
	w := j.workers[r.Node]
	if w == nil || w.incarnation != r.Incarnation {
		w = &worker{incarnation: r.Incarnation, holders: map[int][]held{}}
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
		for _, core := range slices.Sorted(maps.Keys(w.holders)) {
			for _, run := range w.holders[core] {
				if ended, over := jobs(run.shard.Job); over && ended <= now-bound && ended < j.nodes.LastHeard(id) {
					j.log.Violate("T9", history.Record{At: now, Node: id}, "core %d is held by shard %v under %v, whose job ended at %v", core, run.shard, run.fence, ended)
				}
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
		mine := held{e.Shard, e.Fence, e.Tenancy}
		for _, other := range w.holders[core] {
			if !mine.beside(other) {
				j.log.Violate("T9", r, "core %d was given to shard %v under %v while %v under %v holds it", core, e.Shard, e.Fence, other.shard, other.fence)
				w.holders[core] = nil
				break
			}
		}
		if n := len(w.holders[core]); e.Tenancy == message.TenancyLight && n >= message.CoreSeats {
			j.log.Violate("T9", r, "core %d was given to shard %v under %v while %d light shards hold it", core, e.Shard, e.Fence, n)
		}
		w.holders[core] = append(w.holders[core], mine)
	}
	if e.Tenancy == message.TenancyMachine && len(e.Cores) < e.Total {
		j.log.Violate("T9", r, "shard %v under %v has %d of %d cores, and not the whole machine", e.Shard, e.Fence, len(e.Cores), e.Total)
	}
	j.runsAlone(r, w, e)
}

// runsAlone judges T6 within one worker: a higher attempt of a shard starts when
// the executors of the lower one are gone.
func (j *Judge) runsAlone(r history.Record, w *worker, e event.ShardStarted) {
	for core := range e.Total {
		for _, other := range w.holders[core] {
			if other.shard == e.Shard && other.fence != e.Fence {
				j.log.Violate("T6", r, "shard %v was started under %v while it still ran there under %v", e.Shard, e.Fence, other.fence)
				return
			}
		}
	}
}

// Ended frees the cores of an attempt.
func (j *Judge) Ended(r history.Record, e event.ShardEnded) {
	w := j.of(r)
	cores := w.of(e.Shard, e.Fence)
	freed := slices.Sorted(slices.Values(e.Cores))
	if !slices.Equal(cores, freed) {
		j.log.Violate("T9", r, "shard %v under %v freed cores %v but held %v", e.Shard, e.Fence, freed, cores)
	}
	for _, core := range cores {
		w.free(core, e.Shard, e.Fence)
	}
	j.endsAttempt(r, w, e)
}

// of returns the cores of an attempt.
func (w *worker) of(s message.ShardID, f message.Fence) (cores []int) {
	for _, core := range slices.Sorted(maps.Keys(w.holders)) {
		if slices.ContainsFunc(w.holders[core], func(h held) bool { return h.is(s, f) }) {
			cores = append(cores, core)
		}
	}
	return cores
}

// free removes an attempt from a core; it returns false if the attempt does not hold it.
func (w *worker) free(core int, s message.ShardID, f message.Fence) bool {
	before := len(w.holders[core])
	if w.holders[core] = slices.DeleteFunc(w.holders[core], func(h held) bool { return h.is(s, f) }); len(w.holders[core]) == 0 {
		delete(w.holders, core)
	}
	return len(w.holders[core]) < before
}

// CoreFreed frees one core of an attempt, whose other executors continue.
func (j *Judge) CoreFreed(r history.Record, e event.CoreFreed) {
	if w := j.of(r); !w.free(e.Core, e.Shard, e.Fence) || len(w.of(e.Shard, e.Fence)) == 0 {
		j.log.Violate("T9", r, "shard %v under %v freed core %d, the last one or another's", e.Shard, e.Fence, e.Core)
	}
}
