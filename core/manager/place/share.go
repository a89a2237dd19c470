package place

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// Claim is what a workflow gets.
type Claim struct {
	Cores   uint64
	Tenancy message.Tenancy
}

// Room is what a datacenter has for a workflow.
type Room struct {
	Free, All uint64 // cores
	Seats     uint64 // free ones, on cores that light shards share
	Shared    uint64 // cores that shards of its job share already
}

// Divide says what a workflow gets beside others of its job that may run at the same time and
// have no cores yet, and whether there is room for it now. Each of them gets what it needs at
// least, and priorities divide the rest. If they outnumber the free cores, they share.
func Divide(w *message.WorkflowPlan, beside []*message.WorkflowPlan, room Room) (Claim, bool) {
	least := plan.Least(w)
	switch {
	case w.Priority == message.PriorityExclusive:
		if w.Cores == 0 {
			least = min(w.VUs, room.All)
		}
		return Claim{max(1, least), message.TenancyMachine}, room.All > 0 && room.Free == room.All
	}
	weight := weightOf(w)
	others, weights, light := uint64(0), weight, uint64(0)
	for _, o := range beside {
		if plan.Light(o) {
			light++
			continue
		}
		others += plan.Least(o)
		weights += weightOf(o)
	}
	if plan.Light(w) {
		if room.Seats > 0 || room.Free > others || room.Free+room.Shared == 0 {
			return Claim{1, message.TenancyLight}, room.Seats+room.Free > 0
		}
		return Claim{1, message.TenancyJob}, true
	}
	others += (light - min(light, room.Seats) + message.CoreSeats - 1) / message.CoreSeats
	if len(beside) > 0 && least+others > room.Free || least > room.Free && room.Shared > 0 {
		return Claim{least, message.TenancyJob}, least <= room.Free+room.Shared
	}
	if least > room.Free {
		return Claim{least, message.TenancyOwn}, false
	}
	share := min(room.Free*weight/weights, room.Free-others)
	return Claim{max(least, min(share, plan.Most(w, room.All))), message.TenancyOwn}, true
}

// weightOf is the part of the cores that a workflow gets beside others.
func weightOf(w *message.WorkflowPlan) uint64 {
	switch w.Priority {
	case message.PriorityLow:
		return 1
	case message.PriorityHigh:
		return 4
	}
	return 2
}
