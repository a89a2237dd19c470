package queue

import (
	"fmt"
	"math"
	"slices"
	"time"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// Turn is a job's place in the queue; a job keeps it during a dispatch.
type Turn struct {
	Job    message.JobID
	Number uint64       // order of acceptance, at the gate that accepted the job
	Since  node.Instant // first entry: a return from a dispatch does not restart the wait
	Named  []string     // datacenters that the job names; if none, the queue chooses
	Rank   message.Rank // of the submission
	Begin  node.Instant // by when the job must begin; zero: at any time
	Wish                // what the job asks of the choice, if it names no datacenters

	plan     *message.Plan // while the job is in the queue
	class    int           // of its rank, less what its wait has raised it
	position uint32        // from 1; 0 outside the queue
	waits    string        // datacenter that the job waits for, empty for any
}

// Position is the job's place in the queue, from 1; 0 outside the queue.
func (t *Turn) Position() uint32 { return t.position }

// rise sets the class of a job that has waited since it entered the queue.
func (t *Turn) rise(now node.Instant, step time.Duration) {
	t.class = max(0, t.Rank.Class()-int(now.Sub(t.Since)/step))
}

// limit is the deadline by which turns are ordered: those without one come last.
func (t *Turn) limit() node.Instant {
	if t.Begin == 0 {
		return math.MaxInt64
	}
	return t.Begin
}

// nowhere says that a datacenter that the job needs is UNHEALTHY.
func (t *Turn) nowhere(in *places.Places) bool {
	if len(t.Named) > 0 {
		return slices.ContainsFunc(t.Named, func(name string) bool {
			d := in.Datacenter(name)
			return d == nil || d.Health() == message.HealthUnhealthy
		})
	}
	return alive(in) < t.count()
}

// Reason tells people why the job is queued.
func (t *Turn) Reason(in *places.Places) string {
	if t.Rank == message.RankMedium {
		return t.why(in)
	}
	return t.why(in) + "; its importance is " + t.Rank.String()
}

func (t *Turn) why(in *places.Places) string {
	name := t.waits
	if name == "" && len(t.Named) > 0 {
		name = t.Named[0]
	}
	d := in.Datacenter(name)
	switch {
	case name == "" && t.nowhere(in) && t.count() > 1:
		return fmt.Sprintf("waits for %d datacenters: %d of %d have live managers and workers", t.count(), alive(in), len(in.All()))
	case name == "" && t.nowhere(in):
		return fmt.Sprintf("waits for a datacenter: none of %d has live managers and workers", len(in.All()))
	case name == "":
		return "waits for a free core in any datacenter" + t.before()
	case d == nil:
		return fmt.Sprintf("waits for %s: no manager has registered", name)
	case d.Health() == message.HealthUnhealthy:
		v := d.View()
		return fmt.Sprintf("waits for %s, which is UNHEALTHY: %d live managers, %d workers", name, v.Live, v.Workers)
	}
	cores := "a free core"
	if n := needs(t.plan, d); n > 1 {
		cores = fmt.Sprintf("%d free cores", n)
	}
	total, grows := d.View().Total, ""
	if n := needs(t.plan, d); n > max(1, total) {
		grows = fmt.Sprintf(", and there were %d before", d.Cores)
		if most := d.Most(); n <= most {
			grows = fmt.Sprintf(", and scaling can raise them to %d", most)
		}
	}
	return fmt.Sprintf("waits for %s in %s: %d of %d free%s", cores, name, d.Free(), total, grows) + t.before()
}

func (t *Turn) before() string {
	if t.position < 2 {
		return ""
	}
	if t.position == 2 {
		return ", 1 job before it"
	}
	return fmt.Sprintf(", %d jobs before it", t.position-1)
}

// Wants is the room that a dispatch of a plan takes.
func Wants(p *message.Plan, d *places.Datacenter) places.Room {
	free, seats, all := uint64(d.Free()), uint64(d.Seats()), uint64(d.View().Total)
	cores, light := uint64(0), uint64(0)
	for i := range p.Workflows {
		switch w := &p.Workflows[i]; {
		case w.Layer > 0:
		case plan.Light(w):
			light++
		default:
			cores += plan.Most(w, all)
		}
	}
	opened := coresFor(light, seats)
	return places.Room{Cores: uint32(min(free, cores+opened)), Seats: int32(light) - int32(opened*message.CoreSeats)}
}

// needs says how many cores must be free before the gate dispatches a plan. The run timeout
// begins at the dispatch and must not pass while the job waits for cores. Each workflow of the
// first layer needs the cores that it names, or the least share of its priority; those that need
// more than there are divide them. A job waits for workers that are briefly disconnected, and for
// those that scaling can start. The gate dispatches a job that wants more cores than the datacenter
// can reach: its workflows share them, or the manager rejects it with the reason.
func needs(p *message.Plan, d *places.Datacenter) uint32 {
	n, _ := weigh(p, d)
	return n
}

// weigh also says whether the datacenter can reach what the plan needs.
func weigh(p *message.Plan, d *places.Datacenter) (n uint32, holds bool) {
	all := uint64(d.View().Total)
	least, shares, light := uint64(0), uint64(0), uint64(0)
	for i := range p.Workflows {
		w := &p.Workflows[i]
		if w.Layer > 0 {
			continue
		}
		if plan.Light(w) {
			light++
			continue
		}
		one, share := plan.Least(w), uint64(0)
		if w.Cores == 0 && w.Test {
			share, _ = plan.Shares(w.Priority, all)
		}
		if w.Priority != message.PriorityExclusive { // that one waits until all are free
			share = min(share, plan.Most(w, all))
		}
		least, shares = least+one, shares+max(one, share)
	}
	extra := coresFor(light, uint64(d.Seats()))
	if least+extra > uint64(d.Reach()) {
		return 1, false
	}
	return uint32(max(least+extra, min(shares+extra, all))), true
}

// coresFor is how many free cores light workflows need beside free seats.
func coresFor(light, seats uint64) uint64 {
	return (light - min(light, seats) + message.CoreSeats - 1) / message.CoreSeats
}
