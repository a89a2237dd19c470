package stats

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// hops is how often figures are summed on their way: by workers, managers, the gate.
const hops = 3

// mixer is a cheap source of numbers: rapid's own would take a minute for a million.
type mixer uint64

func (m *mixer) next() uint64 { // splitmix64
	*m += 0x9e3779b97f4a7c15
	z := uint64(*m)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// parts makes n random histograms, each around its own value between 1 us and 1 h, and returns
// all their values too.
func parts(seed uint64, n int) (all []*message.Stats, values []uint64) {
	random := mixer(seed)
	for range n {
		var h Histogram
		spread := random.next() % 20
		base := uint64(1000) << (random.next() % 31)
		for range random.next() % 60 {
			v := min(base+random.next()%(base<<spread>>8+1), 3_600_000_000_000)
			h.Record(v)
			values = append(values, v)
		}
		step := message.StepStats{Name: "s", Kind: message.StepRequest, Latency: h.Wire()}
		step.Phases = []message.PhaseTimes{{Phase: message.PhaseWait, Time: h.Wire()}}
		all = append(all, &message.Stats{Steps: []message.StepStats{step}})
	}
	slices.Sort(values)
	return all, values
}

// gather sums neighbours, a group of random size at a time, each over the wire.
func gather(t interface{ Fatal(...any) }, from []*message.Stats, random *mixer, most int) []*message.Stats {
	var to []*message.Stats
	for len(from) > 0 {
		n := min(len(from), 1+int(random.next()%uint64(most)))
		sum, err := Sum(from[:n])
		if err != nil {
			t.Fatal(err)
		}
		sent, _, err := message.Clone(&message.ExecProgress{Sequence: 1, Stats: sum}, nil)
		if err != nil {
			t.Fatal(err)
		}
		to, from = append(to, &sent.(*message.ExecProgress).Stats), from[n:]
	}
	return to
}

// checkHops merges n random histograms over three hops and compares the result with the sorted
// values themselves.
func checkHops(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, seed uint64, n int) {
	all, values := parts(seed, n)
	random := mixer(seed + 1)
	for range hops - 1 {
		all = gather(t, all, &random, 42)
	}
	whole, err := Sum(all)
	if err != nil {
		t.Fatal(err)
	}
	if len(values) == 0 {
		return
	}
	h, err := FromWire(whole.Steps[0].Latency)
	if err != nil {
		t.Fatal(err)
	}
	wait, err := FromWire(whole.Steps[0].Phases[0].Time)
	if err != nil {
		t.Fatal(err)
	}
	var sum uint64
	for _, v := range values {
		sum += v
	}
	for _, got := range []*Histogram{h, wait} {
		if got.Count() != uint64(len(values)) || got.Sum() != sum || got.Min() != values[0] || got.Max() != values[len(values)-1] {
			t.Fatalf("count, sum, min, max are %d, %d, %d, %d, want %d, %d, %d, %d", got.Count(), got.Sum(), got.Min(), got.Max(),
				len(values), sum, values[0], values[len(values)-1])
		}
		for ppm := uint32(0); ppm <= million; ppm += 2500 {
			for _, ppm := range []uint32{ppm, min(ppm+999, million)} {
				want := values[max(1, (len(values)*int(ppm)+million-1)/million)-1]
				if got := got.Quantile(ppm); got < want || got-want > want/200 {
					t.Fatalf("quantile %d of %d values is %d, want %d and at most 0.5 %% more", ppm, len(values), got, want)
				}
			}
		}
	}
}

func TestMergeOverThreeHops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkHops(t, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 60).Draw(t, "histograms"))
	})
}

// TestMergeTenThousandHistograms is the same test in full size, 300,000 values at a time.
func TestMergeTenThousandHistograms(t *testing.T) {
	for seed := range uint64(4) {
		checkHops(t, seed, 10_000)
	}
}
