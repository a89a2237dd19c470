package lab

import (
	"math"
	"slices"
	"time"

	"hyperscale/core/node"
)

// flight counts requests in flight, for controls that bound them.
type flight struct {
	plain
	inFlight int
}

func (f *flight) take(limit int) bool {
	if f.inFlight >= limit {
		return false
	}
	f.inFlight++
	return true
}

// aimd is AIMDLimit of Netflix/concurrency-limits. Its timeout of 5 s would never be reached
// here: the least deadline of the callers takes its place.
type aimd struct {
	flight
	limit int
}

func (a *aimd) admit(node.Instant, *request) bool { return a.take(a.limit) }

func (a *aimd) answer(_ node.Instant, _ *request, rtt time.Duration, dropped bool) {
	switch {
	case dropped || rtt > deadlineMin:
		a.limit = max(1, min(a.limit-1, a.limit*9/10))
	case a.inFlight*2 >= a.limit:
		a.limit++
	}
	a.inFlight--
}

// gradient2 is Gradient2Limit of Netflix/concurrency-limits behind its WindowedLimit: means of
// a second with at least 10 answers.
type gradient2 struct {
	flight
	limit  float64
	long   float64 // nanoseconds
	warm   int     // windows in long, up to 10
	sum    time.Duration
	count  int
	most   int // in flight, in this window
	closes node.Instant
}

func newGradient2() *gradient2 { return &gradient2{limit: 20} }

func (g *gradient2) admit(node.Instant, *request) bool { return g.take(int(g.limit)) }

func (g *gradient2) answer(now node.Instant, _ *request, rtt time.Duration, dropped bool) {
	g.most = max(g.most, g.inFlight)
	g.inFlight--
	if !dropped {
		g.sum += rtt
		g.count++
	}
	if now > g.closes && g.count >= 10 {
		g.update(float64(g.sum) / float64(g.count))
		g.sum, g.count, g.most = 0, 0, 0
		g.closes = now.Add(time.Second)
	}
}

func (g *gradient2) update(short float64) {
	const window, warmUp = 600, 10
	if g.warm < warmUp {
		g.long = (float64(g.long*float64(g.warm)) + short) / float64(g.warm+1)
		g.warm++
	} else {
		const factor = 2.0 / (window + 1)
		g.long = float64(g.long*(1-factor)) + float64(short*factor)
	}
	if g.long/short > 2 {
		g.long *= 0.9
	}
	if float64(g.most) < g.limit/2 {
		return
	}
	gradient := max(0.5, min(1, g.long/short))
	next := float64(g.limit*gradient) + 4
	next = float64(g.limit*0.8) + float64(next*0.2)
	g.limit = max(20, min(200, next))
}

// envoy is the gradient controller of Envoy's filter, with the parameters of its manual.
type envoy struct {
	flight
	limit     int
	kept      int // the limit before the minimum was measured
	measuring bool
	epoch     node.Instant // answers of earlier requests do not count
	least     time.Duration
	samples   []time.Duration
	minimums  int // windows at the minimum, without a pause
	again     node.Instant
	closes    node.Instant
	rand      *node.Rand
}

const (
	envoyLeast    = 3
	envoyMost     = 1000
	envoySamples  = 50
	envoyWindow   = 100 * time.Millisecond
	envoyInterval = time.Minute
)

func newEnvoy() *envoy {
	e := &envoy{limit: envoyLeast, rand: node.NewRand(1, "envoy", node.PurposeJitter)}
	e.measure(0)
	return e
}

func (e *envoy) measure(now node.Instant) {
	e.kept, e.limit, e.measuring, e.epoch = e.limit, envoyLeast, true, now
	e.samples = e.samples[:0]
}

func (e *envoy) admit(now node.Instant, _ *request) bool {
	if !e.measuring && now >= e.again {
		e.measure(now)
	}
	return e.take(e.limit)
}

func (e *envoy) answer(now node.Instant, r *request, rtt time.Duration, dropped bool) {
	e.inFlight--
	if dropped || now.Add(-rtt) < e.epoch {
		return
	}
	e.samples = append(e.samples, rtt)
	switch {
	case e.measuring && len(e.samples) >= envoySamples:
		e.least, e.measuring, e.limit = e.quantile(), false, e.kept
		e.again = now.Add(envoyInterval + e.rand.Duration(0, envoyInterval/10))
		e.closes = now.Add(envoyWindow)
	case !e.measuring && now >= e.closes:
		e.closes = now.Add(envoyWindow)
		e.update(now)
	}
}

// quantile returns the p90 of the samples, and forgets them.
func (e *envoy) quantile() time.Duration {
	slices.Sort(e.samples)
	q := e.samples[len(e.samples)*9/10]
	e.samples = e.samples[:0]
	return q
}

func (e *envoy) update(now node.Instant) {
	gradient := max(0.5, min(2, float64(float64(e.least)*1.25)/float64(e.quantile())))
	limit := float64(float64(e.limit) * gradient)
	next := max(envoyLeast, min(envoyMost, int(limit+math.Sqrt(limit))))
	if next == envoyLeast && e.limit == envoyLeast {
		e.minimums++
	} else {
		e.minimums = 0
	}
	e.limit = next
	if e.minimums >= 5 {
		e.minimums = 0
		e.measure(now)
	}
}
