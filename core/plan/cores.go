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

// Beside returns workflows that may run at the same time as one, of those for which waits is
// true: of each chain in which one waits for the other, the one that needs the most cores.
func Beside(p *message.Plan, one uint32, waits func(uint32) bool) []uint32 {
	before := precede(p)
	var set []uint32
	for i := range uint32(len(p.Workflows)) {
		if i != one && !before[one][i] && !before[i][one] && waits(i) {
			set = append(set, i)
		}
	}
	var most []uint32
	for _, chain := range chains(set, before) {
		most = append(most, slices.MaxFunc(chain, func(a, b uint32) int {
			return cmp.Compare(own(&p.Workflows[a]), own(&p.Workflows[b]))
		}))
	}
	return most
}

// own is how many cores of its own a workflow needs.
func own(w *message.WorkflowPlan) uint64 {
	if Light(w) {
		return 0
	}
	return Least(w)
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

// chains divides a set into as few chains as there are. In a chain each workflow precedes the
// next, so only one of them runs at a time; by Dilworth's theorem, that many may run at once.
// Source: Fulkerson, "Note on Dilworth's decomposition theorem" (1956): a largest matching of
// workflows with ones that precede them.
func chains(set []uint32, before [][]bool) [][]uint32 {
	next := make(map[uint32]uint32, len(set)) // of a workflow: the one behind it in its chain
	var seen map[uint32]bool
	var match func(later uint32) bool
	match = func(later uint32) bool {
		for _, k := range set {
			if !before[later][k] || seen[k] {
				continue
			}
			seen[k] = true
			if other, taken := next[k]; !taken || match(other) {
				next[k] = later
				return true
			}
		}
		return false
	}
	follows := make(map[uint32]bool, len(set))
	for _, later := range set {
		seen = map[uint32]bool{}
		follows[later] = match(later)
	}
	var list [][]uint32
	for _, first := range set {
		if follows[first] {
			continue
		}
		chain := []uint32{first}
		for at, more := next[first]; more; at, more = next[at] {
			chain = append(chain, at)
		}
		list = append(list, chain)
	}
	return list
}
