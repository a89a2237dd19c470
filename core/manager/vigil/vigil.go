package vigil

import (
	"time"

	"hyperscale/core/health"
	"hyperscale/core/manager/place"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Vigil looks at all workflows once per heartbeat.
type Vigil struct {
	tick  health.Tick // of heartbeats
	awake time.Duration
	most  time.Duration // of the waits at the last look
}

// Look begins a look at all workflows; the next one follows after an interval.
func (v *Vigil) Look(now node.Instant, interval time.Duration) {
	v.awake, v.most = v.tick.Awake(now), 0
	v.tick.Arm(now, interval)
}

// At notes how many shards of a workflow lack nothing and do not run.
func (v *Vigil) At(f *subjob.Workflow, left int) { v.most = max(v.most, f.Overdue.Pass(left, v.awake)) }

// Most is for how long work has waited that lacks nothing; zero: none does.
func (v *Vigil) Most() time.Duration { return v.most }

// Room sums up what workers that can receive shards have free.
func Room(r *roster.Roster) (room place.Room) {
	for _, w := range r.All() {
		if takes(w) {
			room.Free, room.All, room.Seats = room.Free+uint64(w.Free()), room.All+uint64(w.Total), room.Seats+uint64(w.FreeSeats())
		}
	}
	return room
}

func takes(w *roster.Worker) bool { return w.Able() && !w.Loaded() }

// Left counts the shards of a workflow that lack no cores and do not run; one stands for all of a
// workflow that is not cut. kept says that the workflow waits for others, whatever is free.
func Left(now node.Instant, f *subjob.Workflow, r *roster.Roster, room place.Room, kept bool) (left int) {
	if len(f.Shards) == 0 {
		if _, fits := place.Divide(f.Plan, f.Beside(), room); fits && !kept {
			return 1
		}
		return 0
	}
	for _, s := range f.Shards {
		switch {
		case s.End != message.WorkflowNone || s.Commit != subjob.Settled || s.Open:
		case s.State == message.WorkflowAssigned: // it has its cores
			left++
		case s.State == message.WorkflowPending && !kept && now >= s.NotBefore && fitsSomewhere(s, r):
			left++
		}
	}
	return left
}

// fitsSomewhere says whether a worker has the cores of a shard.
func fitsSomewhere(s *subjob.Shard, r *roster.Roster) bool {
	for _, w := range r.All() {
		if takes(w) && (w.Free() >= s.Need() || s.Tenancy == message.TenancyLight && w.FreeSeats() > 0) {
			return true
		}
	}
	return false
}
