package compare

import (
	"math"

	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// The shape of the estimate.
const (
	batches    = 20  // of windows: fewer know less well, more see less of what lasts long
	windowsMin = 20  // fewer say nothing
	memoryMost = 0.9 // correlation of neighbouring batches: of more, a run is too short to tell how much
)

// freedom is the degrees of freedom for Student's distribution of two such estimates: half of
// what batches alone would give, because their correlation is an estimate, too.
const freedom = batches - 2

// designOf estimates how correlated the requests of a run are: a stall delays many.
//
// The share of requests that are faster than the run's quantile is a mean over all requests.
// Its variation from window to window gives the variance of that mean (batch means). Divided by
// the variance for as many independent requests, it is the design effect. Windows know
// latencies only to a bucket. Of the bucket that contains the quantile, the same part counts
// as faster in each window, in both variances.
func designOf(s *report.Step, c *curve, quantiles []uint32) Design {
	d, w := Design{Errors: 1, Rate: -1}, s.Course.Windows
	for range quantiles {
		d.Latency = append(d.Latency, 1)
	}
	if s.Course.Dropped || len(w) < windowsMin || len(w) > stats.WindowsMax || c.count() == 0 {
		return d
	}
	d.Known = true
	d.Rate = rateError(&s.Course)
	failed, ended := make([]float64, len(w)), make([]float64, len(w))
	cells := make([]stats.Window, len(w))
	for i := range w {
		cells[i].Coarser = s.Course.Coarser()
		failed[i] = float64(w[i].Failed) + float64(w[i].TimedOut)
		ended[i] = float64(w[i].OK) + failed[i]
		if err := w[i].Buckets.Each(cells[i].RecordN); err != nil {
			d.Known = false // Decode lets none through
		}
	}
	n := total(ended)
	bad := total(failed) / n
	d.Errors = effect(variance(failed, ended), bad*(1-bad)/n, n)
	for i, ppm := range quantiles {
		d.Latency[i] = quantileEffect(cells, c, float64(ppm)/million)
	}
	return d
}

// quantileEffect is the design effect of one quantile.
func quantileEffect(cells []stats.Window, c *curve, q float64) float64 {
	at := c.at(q)
	low, high := cells[0].Bounds(stats.BucketOf(uint64(min(at, 1<<62))))
	home := stats.BucketOf(high) // what is slower than the last bucket counts in it
	from, to := 0.0, 1.0
	if low > 0 {
		from = c.share(float64(low - 1))
	}
	if home < stats.LatencyBuckets-1 {
		to = c.share(float64(high))
	}
	part := 0.0 // of the quantile's bucket that is faster than it
	if to > from {
		part = min(max((q-from)/(to-from), 0), 1)
	}
	faster, n := make([]float64, len(cells)), make([]float64, len(cells))
	var sum, squares float64
	for i := range cells {
		for o, counted := range &cells[i].Latency {
			if counted == 0 {
				continue
			}
			count := float64(counted)
			n[i] += count
			weight := 0.0
			switch {
			case o < home:
				weight = 1
			case o == home:
				weight = part
			}
			faster[i] += weight * count
			squares += weight * weight * count
		}
		sum += faster[i]
	}
	all := total(n)
	mean := sum / all
	return effect(variance(faster, n), (squares/all-mean*mean)/all, all)
}

// rateError is the relative standard error of the rate, -1 if nothing is known of it. The
// last window is left out: the run ended within it.
func rateError(c *report.Course) float64 {
	width := max(c.WidthNS, 1)
	last := c.Windows[len(c.Windows)-1].SinceNS / width
	if last < windowsMin || last > stats.WindowsMax {
		return -1
	}
	ended, ones := make([]float64, last), make([]float64, last)
	for i := range c.Windows {
		w := &c.Windows[i]
		if at := w.SinceNS / width; at >= 0 && at < last {
			ended[at] += float64(w.OK) + float64(w.Failed) + float64(w.TimedOut)
		}
	}
	for i := range ones {
		ones[i] = 1
	}
	mean := total(ended) / float64(last)
	if mean == 0 {
		return -1
	}
	return math.Sqrt(variance(ended, ones)) / mean
}

// variance is that of sum(y) / sum(n), from batches of neighbours that remember each
// other as an autoregressive series of the first order does.
func variance(y, n []float64) float64 {
	var sums, counts [batches]float64
	for i := range y {
		b := i * batches / len(y)
		sums[b] += y[i]
		counts[b] += n[i]
	}
	count := total(counts[:])
	mean := total(sums[:]) / count
	var squares, products, before float64
	for b := range sums {
		e := sums[b] - counts[b]*mean
		squares += e * e
		products += e * before
		before = e
	}
	if squares == 0 {
		return 0
	}
	memory := products / squares
	memory += (1 + 3*memory) / batches // of short series it is too small by so much (Kendall)
	memory = min(max(memory, 0), memoryMost)
	return squares * batches / (batches - 1) * (1 + memory) / (1 - memory) / (count * count)
}

// effect is a ratio of variances, within what n requests allow: no estimate says that a
// run is better than independent requests.
func effect(observed, expected, n float64) float64 {
	if !(observed > 0 && expected > 0) {
		return 1
	}
	return min(max(observed/expected, 1), max(n, 1))
}

func total(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}
