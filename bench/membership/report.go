package membership

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// figure is one number of an outcome; less is better for all of them.
type figure struct {
	name string
	of   func(outcome) float64
}

var figures = []figure{
	{"false positives, at all members", func(o outcome) float64 { return float64(o.FalseAll) }},
	{"false positives, at healthy members", func(o outcome) float64 { return float64(o.FalseHealthy) }},
	{"detection, s", func(o outcome) float64 { return o.First.Seconds() }},
	{"dissemination, s", func(o outcome) float64 { return never(o.Full).Seconds() }},
	{"bytes a member and second", func(o outcome) float64 { return o.Bytes }},
}

// never stands for a death that not everybody learnt of.
func never(d time.Duration) time.Duration {
	if d == 0 {
		return ends - crashes
	}
	return d
}

// tell writes a line a figure: both means, and the difference with the interval
// in which it lies 95 times out of 100, by bootstrap over the pairs.
func tell(w io.Writer, ours, peer []outcome) {
	_, _ = fmt.Fprintf(w, "%-38s %12s %12s %12s %24s\n", "", "ours", "memberlist", "difference", "95 % interval")
	r := rand.New(rand.NewPCG(1, 1))
	for _, f := range figures {
		diffs := make([]float64, len(ours))
		var a, b float64
		for i := range ours {
			x, y := f.of(ours[i]), f.of(peer[i])
			a, b, diffs[i] = a+x, b+y, x-y
		}
		n := float64(len(ours))
		low, high := bootstrap(r, diffs)
		word := "no difference"
		if high < 0 {
			word = "better"
		} else if low > 0 {
			word = "WORSE"
		}
		_, _ = fmt.Fprintf(w, "%-38s %12.3f %12.3f %12.3f   [%9.3f, %9.3f] %s\n", f.name, a/n, b/n, (a-b)/n, low, high, word)
	}
}

// bootstrap returns the interval of the mean.
func bootstrap(r *rand.Rand, values []float64) (low, high float64) {
	const rounds = 10_000
	means := make([]float64, rounds)
	for i := range means {
		for range values {
			means[i] += values[r.IntN(len(values))]
		}
		means[i] /= float64(len(values))
	}
	slices.Sort(means)
	return means[rounds*25/1000], means[rounds*975/1000]
}
