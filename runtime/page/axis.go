package page

import (
	"math"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/ui/units"
)

// ticksMost is how many ticks fit next to each other on a phone.
const ticksMost = 6

// tick is a round value on an axis, at a share of its length.
type tick struct {
	at    float64
	label string
}

// axis places values on 0 to 1.
type axis struct {
	low, high float64
	log       bool
	ticks     []tick
}

func (a *axis) place(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(math.Max(v, a.low)), math.Log(low), math.Log(high)
	}
	if high <= low {
		return 0
	}
	return math.Min(1, math.Max(0, (v-low)/(high-low)))
}

// mark adds a tick if it is on the axis.
func (a *axis) mark(v float64, label string) {
	if v < a.low*(1-1e-9) || v > a.high*(1+1e-9) {
		return
	}
	a.ticks = append(a.ticks, tick{a.place(v), label})
}

// roundStep is the smallest of 1, 2, 5, 10, ... with at most so many steps up to high.
func roundStep(high float64, most int) float64 {
	size := math.Pow(10, math.Floor(math.Log10(high/float64(most))))
	for _, n := range []float64{1, 2, 5, 10} {
		if high/(n*size) <= float64(most) {
			return n * size
		}
	}
	return 10 * size
}

// linear is an axis from 0 to a round value that is not below high.
func linear(high float64, label func(v float64) string) axis {
	if !(high > 0) {
		high = 1
	}
	step := roundStep(high, 4)
	n := math.Ceil(high/step - 1e-9)
	a := axis{high: n * step}
	for i := range int(n) + 1 {
		a.mark(float64(i)*step, label(float64(i)*step))
	}
	return a
}

// around widens a range to 1, 2 or 5 times a power of ten at both ends.
func around(low, high float64) (below, above float64) {
	below = math.Pow(10, math.Floor(math.Log10(low)))
	for _, n := range []float64{5, 2} {
		if n*below <= low {
			below *= n
			break
		}
	}
	above = math.Pow(10, math.Ceil(math.Log10(high)-1e-9))
	for _, n := range []float64{0.2, 0.5} {
		if n*above >= high {
			above *= n
			break
		}
	}
	return below, above
}

// octaves is an axis of latencies, logarithmic, with ticks at 1, 2 and 5 if they fit.
func octaves(low, high float64, label func(v float64) string) axis {
	low, high = around(math.Max(low, 1), high)
	a := axis{low: low, high: math.Max(high, 2*low), log: true}
	decades := math.Log10(a.high / a.low)
	digits := []float64{1, 2, 5}
	switch {
	case decades > 3:
		digits = []float64{1}
	case decades > 1.6:
		digits = []float64{1, 3}
	}
	every := int(math.Ceil(decades / 6))
	for e := int(math.Floor(math.Log10(a.low))); e <= int(math.Ceil(math.Log10(a.high))); e++ {
		if e%every != 0 {
			continue
		}
		for _, d := range digits {
			a.mark(d*math.Pow(10, float64(e)), label(d*math.Pow(10, float64(e))))
		}
	}
	return a
}

// times is an axis of the time since the load began.
func times(span int64) axis {
	a := axis{high: math.Max(float64(span), 1)}
	step := timeStep(time.Duration(span))
	for at := time.Duration(0); at <= time.Duration(span) && len(a.ticks) < 2*ticksMost; at += step {
		a.mark(float64(at), timeLabel(at))
	}
	return a
}

func timeStep(span time.Duration) time.Duration {
	for _, step := range []time.Duration{
		time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		if span/step <= ticksMost {
			return step
		}
	}
	const day = 24 * time.Hour
	return day * time.Duration(max(1, roundStep(float64(span)/float64(day), ticksMost)))
}

// timeLabel writes a round time: 0, 30s, 1m30s, 2h.
func timeLabel(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	s := d.String()
	s = strings.TrimSuffix(s, "0s")
	if s == "" || s[len(s)-1] >= '0' && s[len(s)-1] <= '9' { // 30s lost its unit
		return d.String()
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// latencyLabel writes a round latency: 5ms, not 5.00ms.
func latencyLabel(v float64) string {
	s := units.Latency(uint64(math.Round(v)))
	unit := strings.TrimLeft(s, "0123456789.")
	number := strings.TrimSuffix(s, unit)
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + unit
}

// rateLabel writes a round rate, a second: 1.5, not 1.500, which reads as a thousand and more.
func rateLabel(v float64) string {
	s := units.Milli(uint64(math.Round(v * 1000)))
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// percentLabel writes a share in parts per million: 1.5%.
func percentLabel(ppm float64) string {
	return strconv.FormatFloat(math.Round(ppm)/10_000, 'f', -1, 64) + "%"
}
