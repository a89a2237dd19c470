package admission

import "time"

// Bounds of the inputs of a Detector, for busy, stressed and overloaded. deltas and trend count
// in millionths of the baseline.
const (
	baselineFloor = time.Millisecond // below it, 50 us that become 110 us would be an overload
	baselinePart  = 10               // of the distance that the baseline follows a tick
	trendBound    = million / 10     // by so much delta rises with each tick
	trendTicks    = 20
	warmUp        = 3  // ticks that only the absolute bounds judge
	calmTicks     = 10 // ticks below the level before it falls by one
)

func deltaBounds() [3]int64 { return [3]int64{million / 5, million / 2, million} }

func absoluteBounds() [3]int64 {
	return [3]int64{int64(200 * time.Millisecond), int64(500 * time.Millisecond), int64(2 * time.Second)}
}

func shareBounds() [3]int64 { return [3]int64{700_000, 850_000, 950_000} }

// Detector derives a node's level. Its machine calls Observe for each request and Tick every 250
// ms.
type Detector struct {
	tick     histogram
	baseline time.Duration
	deltas   [trendTicks]int64 // of the last ticks with samples, in a ring
	ticks    int               // with samples
	level    Level
	calm     int // ticks below the level, without a pause
}

// Observe adds one sample: how long a request waited, and how long its handling took.
func (d *Detector) Observe(took time.Duration) { d.tick.add(took) }

// Tick judges what was observed since the last tick. The worst of latency and shares wins.
func (d *Detector) Tick(shares ...Share) Level {
	p99, sampled := d.tick.take()
	latency, share := Calm, Calm
	if sampled {
		latency = d.judge(p99)
	}
	for _, s := range shares {
		share = max(share, over(int64(s), shareBounds()))
	}
	worst := max(latency, share)
	if latency == Overloaded && share == Overloaded {
		worst = Emergency
	}
	d.become(worst)
	if sampled {
		d.follow(p99)
	}
	return d.level
}

// Level returns the level of the last tick.
func (d *Detector) Level() Level { return d.level }

// judge returns the level of a latency.
func (d *Detector) judge(p99 time.Duration) Level {
	d.ticks++
	level := over(int64(p99), absoluteBounds())
	if d.ticks <= warmUp {
		return level
	}
	base := int64(max(d.baseline, baselineFloor))
	delta := (int64(p99) - base) * million / base
	d.deltas[d.ticks%trendTicks] = delta
	level = max(level, over(delta, deltaBounds()))
	if delta > deltaBounds()[0] && d.rises() {
		level = Overloaded
	}
	return level
}

// rises reports whether the least-squares slope of the last deltas is beyond its bound.
func (d *Detector) rises() bool {
	n := min(d.ticks-warmUp, trendTicks)
	if n < warmUp {
		return false
	}
	var top, bottom int64 // half the slope is top/bottom
	for i := range n {
		x := int64(2*i - (n - 1))
		top += x * d.deltas[(d.ticks-n+1+i)%trendTicks]
		bottom += x * x
	}
	return 2*top > trendBound*bottom
}

// become raises the level at once, and lowers it by one after calmTicks ticks below it.
func (d *Detector) become(worst Level) {
	if worst >= d.level {
		d.level, d.calm = worst, 0
		return
	}
	if d.calm++; d.calm == calmTicks {
		d.level, d.calm = d.level-1, 0
	}
}

// follow moves the baseline. A stressed node does not: it would learn its overload as its health.
func (d *Detector) follow(p99 time.Duration) {
	switch {
	case d.ticks == 1:
		d.baseline = p99
	case d.level < Stressed:
		d.baseline += (p99 - d.baseline) / baselinePart
	}
}
