package place

import "hyperscale/core/message"

// Wanted is how many cores a workflow takes: the number that it names, or its part of the free
// ones within its priority's share of all.
func Wanted(p *message.WorkflowPlan, free, all uint64) uint64 {
	switch {
	case p.Cores > 0:
		return min(p.VUs, uint64(p.Cores))
	case !p.Test:
		return 1
	}
	least, most := shares(p.Priority, all)
	return min(p.VUs, max(1, least, min(free, most)))
}

// shares are the least and the most of all cores that a priority takes, rounded up.
func shares(p message.Importance, all uint64) (least, most uint64) {
	percent := func(n uint64) uint64 { return (all*n + 99) / 100 }
	switch p {
	case message.PriorityLow:
		return 0, percent(25)
	case message.PriorityNormal:
		return percent(25), percent(75)
	case message.PriorityHigh:
		return percent(75), all
	case message.PriorityExclusive:
		return all, all
	}
	return 0, all
}
