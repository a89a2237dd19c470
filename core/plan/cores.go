package plan

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
)

// coreLoad is how much processor time a core gives to a load each second: what is left keeps
// its iterations on time.
const coreLoad = 800 * time.Millisecond

// What a step costs at most, in processor time. Plain requests cost 7 to 15 µs, functions of one
// request 8 to 20 µs; TLS, large bodies and functions of several requests cost more.
const (
	requestCost  = 100 * time.Microsecond
	functionCost = 400 * time.Microsecond
	otherCost    = 20 * time.Microsecond
)

// Load is how much processor time a workflow asks for each second, at most: its iterations a
// second times the cost of its steps. Nothing bounds users that do not pause.
func Load(w *message.WorkflowPlan) (load time.Duration, bounded bool) {
	cost := time.Duration(0)
	for i := range w.Steps {
		switch k := w.Steps[i].Kind; {
		case k == message.StepFunction:
			cost += functionCost
		case k.Measured():
			cost += requestCost
		default:
			cost += otherCost
		}
	}
	rate := w.Rate
	for _, s := range w.Stages {
		rate = max(rate, s.Rate)
	}
	if rate > 0 {
		perSecond := float64(rate) / 1000 * float64(time.Second) / float64(max(w.RatePer, time.Second))
		return time.Duration(min(perSecond*float64(cost), float64(DurationMax))), true
	}
	pause := max(w.Think, w.Pace)
	if pause == 0 {
		return 0, false
	}
	return time.Duration(min(float64(w.VUs)*float64(time.Second)/float64(pause)*float64(cost), float64(DurationMax))), true
}

// Light says that a workflow needs so little of a core that it shares one: all light shards of
// a core together leave a fifth of it free.
func Light(w *message.WorkflowPlan) bool {
	load, bounded := Load(w)
	return w.Test && w.Cores == 0 && w.Priority <= message.PriorityNormal && bounded && load <= coreLoad/message.CoreSeats
}

// Least is the least number of cores on which a workflow runs by itself: those that it names,
// or one.
func Least(w *message.WorkflowPlan) uint64 {
	return max(1, min(w.VUs, uint64(w.Cores)))
}

// Most is how many of all cores a workflow takes at most: those that it names, or what its load,
// its users and its priority allow.
func Most(w *message.WorkflowPlan, all uint64) uint64 {
	switch {
	case w.Cores > 0:
		return Least(w)
	case !w.Test:
		return 1
	}
	most := min(w.VUs, all)
	if load, bounded := Load(w); bounded && w.Priority != message.PriorityExclusive {
		most = min(most, uint64((load+coreLoad-1)/coreLoad))
	}
	_, share := Shares(w.Priority, all)
	return max(1, min(most, share))
}

// Shares are the least and the most of all cores that a priority takes, rounded up.
func Shares(p message.Importance, all uint64) (least, most uint64) {
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

// Beside returns workflows that may run at the same time as one, and as each other: as many as
// there are of those for which waits is true.
func Beside(p *message.Plan, one uint32, waits func(uint32) bool) []uint32 {
	before := precede(p)
	var set []uint32
	for i := range uint32(len(p.Workflows)) {
		if i != one && !before[one][i] && !before[i][one] && waits(i) {
			set = append(set, i)
		}
	}
	return widest(set, before)
}

// Together returns how many workflows may run at the same time, at most.
func Together(p *message.Plan) int {
	set := make([]uint32, len(p.Workflows))
	for i := range set {
		set[i] = uint32(i)
	}
	return len(widest(set, precede(p)))
}

// precede says for each workflow which others end before it begins, directly or not.
func precede(p *message.Plan) [][]bool {
	before := make([][]bool, len(p.Workflows))
	order := make([]int, len(p.Workflows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Workflows[a].Layer, p.Workflows[b].Layer) })
	for _, i := range order {
		before[i] = make([]bool, len(p.Workflows))
		for _, list := range [][]uint32{p.Workflows[i].Depends, p.Workflows[i].StartAfter} {
			for _, k := range list {
				before[i][k] = true
				for n, too := range before[k] { // of a lower layer, so complete
					before[i][n] = before[i][n] || too
				}
			}
		}
	}
	return before
}

// widest returns the largest part of a set in which no workflow precedes another. By Dilworth's
// theorem it has one workflow of each chain of a smallest cover; by König's, the chains and the
// part follow from a maximum matching of workflows with ones that precede them.
func widest(set []uint32, before [][]bool) []uint32 {
	follower := make(map[uint32]uint32, len(set)) // of a workflow: the one matched behind it
	var seen map[uint32]bool
	var match func(later uint32) bool
	match = func(later uint32) bool {
		for _, k := range set {
			if !before[later][k] || seen[k] {
				continue
			}
			seen[k] = true
			if other, taken := follower[k]; !taken || match(other) {
				follower[k] = later
				return true
			}
		}
		return false
	}
	matched := make(map[uint32]bool, len(set))
	for _, later := range set {
		seen = map[uint32]bool{}
		matched[later] = match(later)
	}
	// What alternating paths from unmatched workflows reach: later ones on one side, earlier ones
	// on the other.
	late, early := map[uint32]bool{}, map[uint32]bool{}
	var walk func(later uint32)
	walk = func(later uint32) {
		if late[later] {
			return
		}
		late[later] = true
		for _, k := range set {
			if before[later][k] && !early[k] {
				early[k] = true
				walk(follower[k]) // it has one, or the matching would not be maximum
			}
		}
	}
	for _, later := range set {
		if !matched[later] {
			walk(later)
		}
	}
	var part []uint32
	for _, i := range set {
		if late[i] && !early[i] {
			part = append(part, i)
		}
	}
	return part
}
