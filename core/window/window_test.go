package window_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
	"hyperscale/core/window"
)

const (
	g       = int64(window.Granularity)
	million = 1_000_000
)

// clock runs at a rate in millionths, and its readings are whole granules. Its phase is its
// reading at an instant of real time, all in nanoseconds.
type clock struct{ rate, phase, at int64 }

func (c clock) read(t int64) int64 {
	value := c.phase + (t-c.at)*c.rate/million
	return value - value%g
}

// when finds the first instant at which the clock reads at least a value. It searches, without
// a formula.
func (c clock) when(value int64) int64 {
	low, high := c.at, c.at+4*(value-c.phase)+4*g
	for low < high {
		if mid := low + (high-low)/2; c.read(mid) >= value {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// chain is one sequence of a gate's answer, a manager's act, a worker's deadline, and the waits
// that must outlast them. Each node has its own clock.
type chain struct {
	terms                   window.Terms
	way, early, idle        int64 // of the heartbeat to the gate; the act before the window's end; the worker's heartbeat before the act
	gate, manager, worker   int64 // rates
	gateAt, managerAt, asks int64 // phases
}

// play returns in real time when load has stopped, when the gate falls back, and when the
// manager dispatches again.
func (c chain) play() (stopped, fallsBack, again int64) {
	const zero = int64(time.Hour)
	m := clock{c.manager, zero + c.managerAt, zero}
	asked := m.read(zero)
	received := zero + c.way
	gate := clock{c.gate, zero + c.gateAt, received}
	fallsBack = gate.when(gate.read(received) + int64(c.terms.Guard()))

	acted := max(zero, m.when(asked+int64(c.terms.Hold()))-1-c.early) // the last instant that is within the window
	again = clock{c.manager, m.phase + (acted-zero)*c.manager/million, acted}.when(m.read(acted) + int64(c.terms.Patience()))

	sent := max(0, acted-c.idle)
	w := clock{c.worker, zero + c.asks, sent}
	until := w.read(sent) + int64(c.terms.Renewal)
	return w.when(until + int64(node.ExecutorEnd)), fallsBack, again
}

func drawChain(t *rapid.T) chain {
	ppm := rapid.SampledFrom([]int64{1, 100, 10_000, 100_000}).Draw(t, "ppm")
	rate := func(name string) int64 {
		return million + rapid.OneOf(rapid.SampledFrom([]int64{-ppm, ppm, 0}), rapid.Int64Range(-ppm, ppm)).Draw(t, name)
	}
	phase := func(name string) int64 {
		return rapid.OneOf(rapid.SampledFrom([]int64{0, 1, g - 1}), rapid.Int64Range(0, g-1)).Draw(t, name)
	}
	delay := func(name string) int64 {
		return rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, int64(20*time.Second))).Draw(t, name)
	}
	length := func(name string, low, high time.Duration) time.Duration {
		d := rapid.Int64Range(int64(low/window.Granularity), int64(high/window.Granularity)).Draw(t, name) * g
		return time.Duration(d + phase(name+" beyond a granule"))
	}
	return chain{
		terms: window.Terms{Word: length("word", time.Second, 10*time.Minute), Renewal: length("renewal", 100*time.Millisecond, time.Minute), DriftPPM: ppm},
		way:   delay("way"), early: delay("early"), idle: delay("idle"),
		gate: rate("gate"), manager: rate("manager"), worker: rate("worker"),
		gateAt: phase("gate's phase"), managerAt: phase("manager's phase"), asks: phase("worker's phase"),
	}
}

// WINDOW-1 for random clocks, phases and delays.
func TestLoadStopsBeforeAnybodyGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChain(t)
		stopped, fallsBack, again := c.play()
		if fallsBack < stopped {
			t.Fatalf("the gate falls back %v before load has stopped", time.Duration(stopped-fallsBack))
		}
		if again < stopped {
			t.Fatalf("the manager dispatches again %v before load has stopped", time.Duration(stopped-again))
		}
	})
}

// hostile returns the clocks that need each summand: all that act are slow, those that wait are
// fast, nothing is late, and each reading has the largest error.
func hostile(terms window.Terms) []chain {
	slow, fast := million-terms.DriftPPM, million+terms.DriftPPM
	var all []chain
	for _, manager := range []int64{slow, fast} {
		for _, gateAt := range []int64{0, g - 1} {
			for _, managerAt := range []int64{0, g - 1} {
				all = append(all, chain{terms: terms, gate: fast, manager: manager, worker: slow, gateAt: gateAt, managerAt: managerAt})
			}
		}
	}
	return all
}

// WINDOW-1 and WINDOW-2 where they are tight: for adjacent lengths, so that no rounding hides a
// summand. The worst clocks leave something, and never more than a few granules.
func TestEachSummandIsNeeded(t *testing.T) {
	const most = 5 * window.Granularity
	for _, ppm := range []int64{1, 10_000, 100_000} {
		var left, leftAgain []int64
		for k := range time.Duration(200) {
			off := k * 7919 * time.Nanosecond // over more than a granule
			for _, c := range hostile(window.Terms{Word: time.Minute + off, Renewal: 5*time.Second + off/3 + 1, DriftPPM: ppm}) {
				stopped, fallsBack, again := c.play()
				left, leftAgain = append(left, fallsBack-stopped), append(leftAgain, again-stopped)
			}
		}
		//lint:orderfree each judges by itself
		for what, l := range map[string][]int64{"gate": left, "manager": leftAgain} {
			if least := slices.Min(l); least < 0 || least > int64(most) {
				t.Errorf("at %d ppm the worst clocks leave the %s %v, want 0 to %v", ppm, what, time.Duration(least), most)
			}
		}
	}
}

func TestDefaultsInPlainFigures(t *testing.T) {
	terms := window.Terms{Word: time.Minute, Renewal: 5 * time.Second, DriftPPM: 10_000}
	//lint:orderfree each judges by itself
	for what, d := range map[string][2]time.Duration{
		"hold":     {terms.Hold(), 59_399 * time.Millisecond},    // 60 s less 1 %, less 1 ms
		"stopped":  {terms.Stopped(), 5_253_535_354},             // 5.201 s / 0.99
		"patience": {terms.Patience(), 5_308 * time.Millisecond}, // 5.25354 s x 1.01 + 1 ms
		"guard":    {terms.Guard(), 65_908 * time.Millisecond},   // 65.25354 s x 1.01 + 1 ms
	} {
		if d[0] != d[1] {
			t.Errorf("%s is %v, want %v", what, d[0], d[1])
		}
	}
}
