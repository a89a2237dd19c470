package main

import (
	"math"
	"time"
)

// stall is one run of an open model against a server that stands still once.
type stall struct {
	Run      time.Duration // T
	Stall    time.Duration // S, the whole server or the whole generator
	Rate     float64       // R, arrivals a second
	Capacity float64       // C, answers a second while it catches up; 0: without bound
}

// k is 1 - R/C: what of its time the server has for catching up.
func (s stall) k() float64 {
	if s.Capacity == 0 {
		return 1
	}
	return 1 - s.Rate/s.Capacity
}

// delayed returns the share of arrivals that wait.
func (s stall) delayed() float64 { return s.Stall.Seconds() / (s.Run.Seconds() * s.k()) }

// quantile returns the latency that a share q of the requests does not exceed, in
// seconds above the base.
func (s stall) quantile(q float64) float64 {
	if q <= 1-s.delayed() {
		return 0
	}
	return max(0, s.Stall.Seconds()-(1-q)*s.Run.Seconds()*s.k())
}

// mean returns the mean latency, in seconds above the base.
func (s stall) mean() float64 {
	return s.Stall.Seconds() * s.Stall.Seconds() / (2 * s.Run.Seconds() * s.k())
}

// tolerance returns how far a figure may be from the value at quantile q: 1 %, or
// 1 ms where the value is the base. Where the delayed begin, a request more or less
// among them is a step of T k/n seconds, which nobody can be blamed for.
func (s stall) tolerance(value, q float64) float64 {
	t := 0.01 * value
	if value < 0.1 {
		t = 0.001
	}
	step := s.Run.Seconds() * s.k() / (s.Run.Seconds() * s.Rate)
	if math.Abs(q-(1-s.delayed())) < 0.001 {
		t += 2 * step
		if s.Capacity == 0 {
			// No server is without bound: 50 times the rate counts as that.
			t += (1 - q) * s.Run.Seconds() / 50
		}
	}
	return t
}

// expected is the oracle's figure of each name that told has.
func (s stall) expected() []expectation {
	e := []expectation{{Name: "mean", Want: s.mean(), Tolerance: max(0.01*s.mean(), 0.001)}}
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}} {
		v := s.quantile(q.q)
		e = append(e, expectation{Name: q.name, Want: v, Tolerance: s.tolerance(v, q.q)})
	}
	return e
}

// expectation is one figure that must be told, in seconds.
type expectation struct {
	Name      string
	Want      float64
	Tolerance float64
}

// apart returns how far a figure is from the truth, in seconds; one that was not told
// is not near.
func (e expectation) apart(got time.Duration) float64 {
	if got < 0 {
		return math.Inf(1)
	}
	return math.Abs(got.Seconds() - e.Want)
}
