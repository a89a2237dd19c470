package lab

import (
	"slices"
	"time"

	"hyperscale/core/node"
)

// Bounds of the callers' deadlines, and the times of a steady run. The slowest algorithm needs
// a minute to find its level.
const (
	deadlineMin = 100 * time.Millisecond
	deadlineMax = 500 * time.Millisecond

	ramp    = 40 * time.Second
	warm    = 100 * time.Second
	measure = 60 * time.Second
)

// callers is from how many sources a load comes.
const callers = 50

// Cell is one figure of a table: one algorithm at one load. Shares of the capacity are in tenths
// of a percent.
type Cell struct {
	Good   int64 // answered in time
	Wasted int64 // work on requests that were not
	P99    time.Duration
}

// spread adds a load that comes from several callers.
func (w *world) spread(seed uint64, name string, class node.Priority, load []change) {
	for range callers {
		each := slices.Clone(load)
		for i := range each {
			each[i].rate /= callers
		}
		w.add(seed, &stream{name: name, class: class, load: each, least: deadlineMin, most: deadlineMax})
	}
}

// Steady plays one load on one server, in tenths of its capacity. A refusal costs so many
// thousandths of a request.
func Steady(c *Column, seed uint64, tenths, refusal int64) Cell {
	w := newWorld(c, []int{pool}, []int{0})
	w.refusal = handling * time.Duration(refusal) / 1000
	w.spread(seed, "caller", node.Normal, steady(tenths*capacity/10))
	w.run(warm, warm+measure)
	return w.cell(capacity)
}

// Halved plays twice the capacity, of which half is lost 20 s before figures count. The controls
// hear of it only by what they measure.
func Halved(c *Column, seed uint64) Cell {
	w := newWorld(c, []int{pool}, []int{0})
	w.halves = node.Instant(warm - 20*time.Second)
	w.spread(seed, "caller", node.Normal, steady(2*capacity))
	w.run(warm, warm+measure)
	return w.cell(capacity / 2)
}

// newMachine returns a server that handles one request at a time, each for 1 ms in the mean, as
// a node of the cluster does. Its capacity is that of the others.
func newMachine(c *Column) *world {
	w := newWorld(c, []int{1}, []int{0})
	w.handling = handling / pool
	w.refusal = w.handling / 100
	return w
}

// Machine plays one load on such a server.
func Machine(c *Column, seed uint64, tenths int64) Cell {
	w := newMachine(c)
	w.spread(seed, "caller", node.Normal, steady(tenths*capacity/10))
	w.run(warm, warm+measure)
	return w.cell(capacity)
}

// Chain is a path of servers.
type Chain struct {
	Name    string
	workers []int
	path    []int
	of      int64 // requests a second that it can answer
}

// Chains returns the paths of three hops.
func Chains() []Chain {
	return []Chain{
		{"three equal servers", []int{pool, pool, pool}, []int{0, 1, 2}, capacity},
		{"each narrower than the one before (4:2:1)", []int{4 * pool, 2 * pool, pool}, []int{0, 1, 2}, capacity},
		{"a wide server calls a narrow one twice", []int{4 * pool, pool}, []int{0, 1, 1}, capacity / 2},
	}
}

// Play plays one load on the chain, in tenths of what it can answer.
func (h *Chain) Play(c *Column, seed uint64, tenths int64) Cell {
	w := newWorld(c, h.workers, h.path)
	w.spread(seed, "caller", node.Normal, steady(tenths*h.of/10))
	w.run(warm, warm+measure)
	return w.cell(h.of)
}

// Surge plays a load that jumps from half of what the chain can answer, and counts the 20 s
// behind the jump.
func (h *Chain) Surge(c *Column, seed uint64, tenths int64) Cell {
	const at, span = 20 * time.Second, 20 * time.Second
	w := newWorld(c, h.workers, h.path)
	w.spread(seed, "caller", node.Normal, jump(at, h.of/2, tenths*h.of/10))
	w.run(at, at+span)
	return w.cell(h.of)
}

// cell sums up all streams against a capacity.
func (w *world) cell(of int64) Cell {
	var latencies []time.Duration
	for _, s := range w.streams {
		latencies = append(latencies, s.counts.latencies...)
	}
	most := of * int64(w.until.Sub(w.from)/time.Second)
	return Cell{
		Good:   (int64(len(latencies))*2000 + most) / (2 * most),
		Wasted: int64(w.wasted/w.handling) * 1000 / most,
		P99:    quantile(latencies, 99),
	}
}

// quantile sorts durations and returns a percentile.
func quantile(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)*percent/100]
}

// Step is how an algorithm takes a load that jumps.
type Step struct {
	Settled time.Duration // until no slice of 20 ms has less than 90 % of the capacity; 5 s: never
	Least   int64         // least goodput of a slice, the first one apart, in tenths of a percent
	Series  []int64       // goodput in each 100 ms, in tenths of a percent
	Back    int64         // after 2 s of 4x and a return to 0.5x: failures from 1 s to 5 s later, in hundredths of a percent
}

const (
	stepAt    = 10 * time.Second
	stepFor   = 5 * time.Second
	stepSlice = 20 * time.Millisecond
)

// Jump sums up the answers of many seeds, so that slices are not noise. The load jumps from 0.5
// to 1.4 of the capacity.
func Jump(c *Column, seeds uint64) Step {
	slots := make([]int64, stepFor/stepSlice)
	s := Step{Settled: stepFor, Least: 1000}
	var failed, asked int64
	for seed := range seeds {
		w := newWorld(c, []int{pool}, []int{0})
		w.spread(seed, "caller", node.Normal, jump(stepAt, capacity/2, capacity*14/10))
		w.answered = func(_ *request, good bool) {
			if at := time.Duration(w.now) - stepAt; good && at >= 0 {
				slots[at/stepSlice]++
			}
		}
		w.run(stepAt, stepAt+stepFor)
		f, a := back(c, seed)
		failed, asked = failed+f, asked+a
	}
	s.Back = failed * 10_000 / asked
	for i := range len(slots) / 5 {
		n := int64(0)
		for _, slot := range slots[5*i : 5*i+5] {
			n += slot
		}
		s.Series = append(s.Series, n*10_000/capacity/int64(seeds))
	}
	full := capacity * int64(seeds) * int64(stepSlice/time.Millisecond) / 1000
	for i, n := range slots {
		if i > 0 {
			s.Least = min(s.Least, n*1000/full)
		}
		if n*10 < full*9 {
			s.Settled = stepFor
		} else if s.Settled == stepFor {
			s.Settled = time.Duration(i) * stepSlice
		}
	}
	return s
}

// jump is a load that changes at once.
func jump(at time.Duration, before, after int64) []change {
	return []change{{0, before}, {at, before}, {at + time.Microsecond, after}}
}

// back counts the requests that fail, and all, from 1 s after 2 s of four times the capacity.
func back(c *Column, seed uint64) (failed, asked int64) {
	const fall = stepAt + 2*time.Second
	w := newWorld(c, []int{pool}, []int{0})
	w.spread(seed, "caller", node.Normal, append(jump(stepAt, capacity/2, 4*capacity), change{fall, 4 * capacity}, change{fall + time.Microsecond, capacity / 2}))
	w.answered = func(r *request, good bool) {
		if time.Duration(r.asked) > fall+time.Second {
			asked++
			if !good {
				failed++
			}
		}
	}
	w.run(fall, fall+stepFor)
	return failed, asked
}

// Urgent is what becomes of critical requests, a twentieth of the capacity.
type Urgent struct {
	Asked int64
	Shed  int64 // refused or dropped
	Late  int64
	P99   time.Duration
}

// Critical plays critical requests beside a load of another class, in tenths of the capacity.
func Critical(c *Column, seed uint64, class node.Priority, tenths int64) Urgent {
	w := newWorld(c, []int{pool}, []int{0})
	w.spread(seed, "critical", node.Critical, []change{{0, capacity / 20}})
	w.spread(seed, "other", class, steady(tenths*capacity/10))
	w.run(warm, warm+measure)
	u, latencies := w.urgent()
	u.P99 = quantile(latencies, 99)
	return u
}

// Spike is Critical over many seeds, while the other load has just jumped from 0.5.
func Spike(seeds uint64, class node.Priority, tenths int64, server func() *world) Urgent {
	const at, span = 2 * time.Second, 2 * time.Second
	var sum Urgent
	var latencies []time.Duration
	for seed := range seeds {
		w := server()
		w.spread(seed, "critical", node.Critical, []change{{0, capacity / 20}})
		w.spread(seed, "other", class, jump(at, capacity/2, tenths*capacity/10))
		w.run(at, at+span)
		u, l := w.urgent()
		sum.Asked, sum.Shed, sum.Late = sum.Asked+u.Asked, sum.Shed+u.Shed, sum.Late+u.Late
		latencies = append(latencies, l...)
	}
	sum.P99 = quantile(latencies, 99)
	return sum
}

// urgent counts the critical requests, whose streams are the first.
func (w *world) urgent() (u Urgent, latencies []time.Duration) {
	for _, s := range w.streams[:callers] {
		u.Asked += s.counts.good + s.counts.late + s.counts.refused
		u.Shed += s.counts.refused
		u.Late += s.counts.late
		latencies = append(latencies, s.counts.latencies...)
	}
	return u, latencies
}

// Fair is how a server divides itself between elephants, which ask for all of it, and mice.
type Fair struct {
	Squeezed int64 // requests of mice that failed, in hundredths of a percent
	Apart    int64 // how far the elephant furthest from its max-min share is from it, in tenths of a percent
}

// Divide plays ten times the capacity from elephants, the largest twice as greedy as the
// smallest, and ten mice that ask for half a percent each.
func Divide(c *Column, seeds uint64, elephants int64, least, most time.Duration) Fair {
	const mice = 10
	var f Fair
	var failed, asked int64
	for seed := range seeds {
		w := newWorld(c, []int{pool}, []int{0})
		weights := 3 * elephants * max(1, elephants-1) / 2
		for i := range elephants {
			weight := max(1, elephants-1) + i
			w.add(seed, &stream{name: "elephant", class: node.Normal, load: steady(10 * capacity * weight / weights), least: least, most: most})
		}
		for range mice {
			w.add(seed, &stream{name: "mouse", class: node.Normal, load: []change{{0, capacity / 200}}, least: least, most: most})
		}
		w.run(warm, warm+measure)
		for _, s := range w.streams[elephants:] {
			failed += s.counts.late + s.counts.refused
			asked += s.counts.good + s.counts.late + s.counts.refused
		}
		f.Apart = max(f.Apart, apart(w.streams[:elephants]))
	}
	f.Squeezed = failed * 10_000 / asked
	return f
}

// apart returns how far the furthest stream is from the mean.
func apart(streams []*stream) int64 {
	sum, most := int64(0), int64(0)
	for _, s := range streams {
		sum += s.counts.good
	}
	mean := max(1, sum/int64(len(streams)))
	for _, s := range streams {
		most = max(most, max(s.counts.good-mean, mean-s.counts.good)*1000/mean)
	}
	return most
}
