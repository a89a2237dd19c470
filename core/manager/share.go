package manager

import "hyperscale/core/message"

// wanted is how many cores a workflow takes: what it names, or its part of those
// that are free within the share that its priority has of all.
func (m *Machine) wanted(f *workflow, free, all uint64) uint64 {
	switch {
	case f.plan.Cores > 0:
		return min(f.plan.VUs, uint64(f.plan.Cores))
	case !f.plan.Test:
		return 1
	}
	least, most := shares(f.plan.Priority, all)
	return min(f.plan.VUs, max(1, least, min(free, most)))
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

// runsAlone finds a workflow under way that wants no other beside it.
func (m *Machine) runsAlone() *workflow {
	for _, p := range m.order {
		for _, f := range p.workflows {
			if f.plan != nil && f.plan.Priority == message.PriorityExclusive && len(f.shards) > 0 && f.end == message.WorkflowNone {
				return f
			}
		}
	}
	return nil
}
