package main

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// simulate sends every request of a run on time and answers them in turn.
func (s stall) simulate(from time.Duration) []float64 {
	n := int(s.Run.Seconds() * s.Rate)
	begin, end, free := from.Seconds(), (from + s.Stall).Seconds(), 0.0
	waits := make([]float64, n)
	for i := range waits {
		due := float64(i) / s.Rate
		answer := max(due, free)
		if answer >= begin && answer < end {
			answer = end
		}
		if s.Capacity > 0 {
			free = answer + 1/s.Capacity
		}
		waits[i] = answer - due
	}
	slices.Sort(waits)
	return waits
}

// TestOracle compares the closed formulas with a simulation of every request.
func TestOracle(t *testing.T) {
	for _, times := range []float64{0, 5, 2} {
		s := stall{Run: time.Minute, Stall: 6 * time.Second, Rate: 500, Capacity: 500 * times}
		waits := s.simulate(20 * time.Second)
		sum := 0.0
		for _, w := range waits {
			sum += w
		}
		got := map[string]float64{"mean": sum / float64(len(waits))}
		for name, q := range map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999} {
			got[name] = waits[int(math.Ceil(q*float64(len(waits))))-1]
		}
		for _, e := range s.expected() {
			if math.Abs(got[e.Name]-e.Want) > e.Tolerance {
				t.Errorf("C = %v R: %s is %.4f in the simulation, %.4f by the formula, more than %.4f apart", times, e.Name, got[e.Name], e.Want, e.Tolerance)
			}
		}
	}
}

// TestOracleValues are the published ones.
func TestOracleValues(t *testing.T) {
	for _, c := range []struct {
		times float64
		want  string
	}{
		{0, "mean 0.300 p50 0.000 p90 0.000 p95 3.000 p99 5.400 p999 5.940 "},
		{5, "mean 0.375 p50 0.000 p90 1.200 p95 3.600 p99 5.520 p999 5.952 "},
		{2, "mean 0.600 p50 0.000 p90 3.000 p95 4.500 p99 5.700 p999 5.970 "},
	} {
		got := ""
		for _, e := range (stall{Run: time.Minute, Stall: 6 * time.Second, Rate: 500, Capacity: 500 * c.times}).expected() {
			got += fmt.Sprintf("%s %.3f ", e.Name, e.Want)
		}
		if got != c.want {
			t.Errorf("C = %v R:\n got %s\nwant %s", c.times, got, c.want)
		}
	}
}

// TestOracleCatchesOmission gives it what a closed client with one connection tells.
func TestOracleCatchesOmission(t *testing.T) {
	s := stall{Run: time.Minute, Stall: 6 * time.Second, Rate: 500}
	for _, e := range s.expected() {
		if e.Name == "p99" && e.apart(time.Millisecond) <= e.Tolerance {
			t.Errorf("a p99 of 1 ms passes where %.1f s are true", e.Want)
		}
		if e.apart(untold) <= e.Tolerance {
			t.Errorf("%s iterations without having been told", e.Name)
		}
	}
}
