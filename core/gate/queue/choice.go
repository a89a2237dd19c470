package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// spillAfter is how long a job waits for the datacenters that it prefers while others have cores.
const spillAfter = time.Minute

// Wish is what a job asks of the choice of its datacenters.
type Wish struct {
	Count     uint32   // of datacenters; zero: one
	Preferred []string // to choose first
}

// CheckWish rejects what contradicts itself. most is the bound on datacenters.
func CheckWish(s *message.JobSubmit, most int) (faults []plan.Fault) {
	add := func(key, value, bound, remedy string) {
		faults = append(faults, plan.Fault{Key: key, Value: value, Bound: bound, Remedy: remedy})
	}
	if n := len(s.Datacenters); n > 0 && s.Count > 0 {
		add("count", fmt.Sprint(s.Count), "be 0 beside datacenters, which say where the job runs", "leave out one of both")
	} else if int64(s.Count) > int64(most) {
		add("count", fmt.Sprint(s.Count), fmt.Sprintf("be at most gate.datacenters_max = %d", most), "ask for fewer, or raise the setting")
	}
	checkBestEffort(s, add)
	switch n := len(s.Preferred); {
	case n > 0 && len(s.Datacenters) > 0:
		add("preferred", fmt.Sprint(n), "be empty beside datacenters, which say where the job runs", "leave out one of both")
	case n > most:
		add("preferred", fmt.Sprint(n), fmt.Sprintf("be at most gate.datacenters_max = %d", most), "name fewer, or raise the setting")
	default:
		names := slices.Sorted(slices.Values(s.Preferred))
		for i, name := range names {
			if !places.Name(name) || i > 0 && names[i-1] == name {
				add("preferred", fmt.Sprintf("%.64q", name), "name each datacenter once, as its managers do", "correct it")
			}
		}
	}
	return faults
}

// checkBestEffort rejects a best effort that leaves no datacenter out, or that names no time.
func checkBestEffort(s *message.JobSubmit, add func(key, value, bound, remedy string)) {
	e, n := s.BestEffort, max(1, len(s.Datacenters), int(s.Count))
	switch {
	case e == message.BestEffort{}:
	case e.Least == 0:
		add("best_effort.least", "0", "be at least 1 beside best_effort.after", "say how many datacenters must complete")
	case int64(e.Least) >= int64(n):
		add("best_effort.least", fmt.Sprint(e.Least), fmt.Sprintf("be below %d, the number of the job's datacenters", n), "name more datacenters, or raise count")
	case e.After <= 0:
		add("best_effort.after", e.After.String(), "be above 0s", "say how long after its dispatch the job waits for all of its datacenters")
	}
}

func (t *Turn) count() int { return int(max(1, t.Count)) }

// alive counts the datacenters that are not UNHEALTHY.
func alive(in *places.Places) (n int) {
	for _, d := range in.All() {
		if d.Health() != message.HealthUnhealthy {
			n++
		}
	}
	return n
}

// option is a datacenter that a job may choose.
type option struct {
	of     *places.Datacenter
	room   bool
	wished bool
	level  int
	liked  bool // it is the gate's favourite
	cost   uint64
}

// Levels of the choice, the best one first.
const (
	levelWell  = iota // HEALTHY for a while, with room
	levelFresh        // HEALTHY otherwise
	levelBusy
	levelDegraded
)

func levelOf(d *places.Datacenter, room bool, now node.Instant) int {
	switch health := d.Health(); {
	case health == message.HealthHealthy && room && d.Settled(now):
		return levelWell
	case health == message.HealthHealthy:
		return levelFresh
	case health == message.HealthBusy:
		return levelBusy
	}
	return levelDegraded
}

// choose returns the best datacenters for a job that names none: preferred ones first, then by
// level, then those with room, then the gate's favourite, then by cost (near, with free cores), then
// by name. If one of them has no room it
// returns nil, and the job waits for it. A job that has waited for spillAfter takes any datacenters
// that have room, and preferred ones among them first. A job for which scaling can raise only datacenters of which
// jobs before keep some waits for the first of these, and keeps the others.
func (t *Turn) choose(in *places.Places, now node.Instant, blocked map[string]bool) []*places.Datacenter {
	t.waits = ""
	living, kept := t.options(in, now), func(o option) bool { return blocked[o.of.Name] }
	all := t.holding(living)
	narrowed, keeper := len(all) < len(living), slices.IndexFunc(all, kept)
	if keeper >= 0 {
		t.waits = all[keeper].of.Name
	}
	if all = slices.DeleteFunc(all, kept); narrowed && len(all) < t.count() {
		t.block(in, all, true, blocked)
		return nil
	}
	t.waits = ""
	wishes := slices.ContainsFunc(all, func(o option) bool { return o.wished })
	spills := wishes && now.Sub(t.Since) >= spillAfter
	slices.SortStableFunc(all, func(a, b option) int {
		byRoom := first(a.room, b.room)
		early, late := 0, byRoom
		if spills {
			early, late = byRoom, 0
		}
		return cmp.Or(early, first(a.wished, b.wished), cmp.Compare(a.level, b.level), late, first(a.liked, b.liked), cmp.Compare(a.cost, b.cost))
	})
	best := all[:min(len(all), t.count())]
	lacks := slices.IndexFunc(best, func(o option) bool { return !o.room })
	if len(best) == t.count() && lacks < 0 {
		var to []*places.Datacenter
		for _, o := range best {
			to = append(to, o.of)
		}
		slices.SortFunc(to, func(a, b *places.Datacenter) int { return cmp.Compare(a.Name, b.Name) })
		return to
	}
	if lacks >= 0 {
		t.waits = best[lacks].of.Name
	}
	if !wishes || spills {
		best = all
	}
	if len(best) > 0 && (lacks >= 0 || len(blocked) > 0) {
		t.block(in, best, wishes && !spills, blocked)
	}
	return nil
}

// block keeps datacenters from the jobs behind this one: those that it prefers, or all.
func (t *Turn) block(in *places.Places, best []option, some bool, blocked map[string]bool) {
	if some {
		for _, o := range best {
			blocked[o.of.Name] = true
		}
		return
	}
	for _, d := range in.All() {
		blocked[d.Name] = true
	}
}

// options lists the datacenters that are not UNHEALTHY, by name.
func (t *Turn) options(in *places.Places, now node.Instant) (all []option) {
	for _, d := range in.All() {
		if d.Health() == message.HealthUnhealthy {
			continue
		}
		n := needs(t.plan, d)
		room := d.Free() >= n
		all = append(all, option{
			of: d, room: room, wished: slices.Contains(t.Preferred, d.Name), level: levelOf(d, room, now), liked: in.Favours(d), cost: d.Cost(now),
		})
	}
	return all
}

// holding leaves out the datacenters that can never have the cores of a job, if scaling is known to reach them
// in others, kept ones among them. Else such a job would go at once to one that is too small.
func (t *Turn) holding(all []option) []option {
	holds := func(o option) bool { // it has had the cores that the job needs, or scaling can reach them
		_, yes := weigh(t.plan, o.of)
		return yes
	}
	if !slices.ContainsFunc(all, func(o option) bool { return o.of.Most() > 0 && holds(o) }) {
		return all
	}
	hold := slices.DeleteFunc(slices.Clone(all), func(o option) bool { return !holds(o) })
	if len(hold) < t.count() {
		return all
	}
	return hold
}

// first orders what holds before what does not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
