package stats

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

func TestWireKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := recorded(drawValues(t, "values"))
		back, err := FromWire(h.Wire())
		if err != nil {
			t.Fatal(err)
		}
		compare(t, back, h)
	})
}

func TestFromWireRefuses(t *testing.T) {
	good := func() message.Histogram { return recorded([]uint64{3, 1000, 1001, 70_000}).Wire() }
	for _, tt := range []struct {
		name  string
		spoil func(h *message.Histogram)
	}{
		{"a count that the buckets do not hold", func(h *message.Histogram) { h.Count++ }},
		{"a count below that of the buckets", func(h *message.Histogram) { h.Count-- }},
		{"a count beyond all reason", func(h *message.Histogram) { h.Count = 1 << 60 }},
		{"a minimum of another bucket", func(h *message.Histogram) { h.Min-- }},
		{"a maximum of another bucket", func(h *message.Histogram) { h.Max *= 2 }},
		{"a sum below the smallest possible", func(h *message.Histogram) { h.Sum = 11 }},
		{"a sum above the largest possible", func(h *message.Histogram) { h.Sum = 1 << 40 }},
		{"a bucket cut off", func(h *message.Histogram) { h.Buckets = h.Buckets[:len(h.Buckets)-1] }},
		{"a bucket beyond the last", func(h *message.Histogram) { h.Buckets = append(h.Buckets, 0xff, 0xff, 0x7f, 1); h.Count++ }},
		{"a bucket told twice", func(h *message.Histogram) { h.Buckets = append(h.Buckets, 0, 1); h.Count++ }},
		{"an empty bucket", func(h *message.Histogram) { h.Buckets = append(h.Buckets, 1, 0) }},
		{"an endless varint", func(h *message.Histogram) { h.Buckets = []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff") }},
		{"a sum of nothing", func(h *message.Histogram) { *h = message.Histogram{Sum: 1} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := good()
			tt.spoil(&h)
			if _, err := FromWire(h); !errors.Is(err, ErrHistogram) {
				t.Errorf("got error %v, want %v", err, ErrHistogram)
			}
		})
	}
}

func FuzzFromWire(f *testing.F) {
	seed := recorded([]uint64{3, 1000, 1001, 70_000}).Wire()
	f.Add(seed.Count, seed.Sum, seed.Min, seed.Max, seed.Buckets)
	f.Add(uint64(1), uint64(0), uint64(0), uint64(0), []byte{1, 1})
	f.Fuzz(func(t *testing.T, count, sum, least, most uint64, buckets []byte) {
		h, err := FromWire(message.Histogram{Count: count, Sum: sum, Min: least, Max: most, Buckets: buckets})
		if err != nil {
			return
		}
		back, err := FromWire(h.Wire())
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		compare(t, back, h)
		for _, ppm := range []uint32{0, 500_000, 1_000_000} {
			if q := h.Quantile(ppm); q < h.Min() || q > h.Max() {
				t.Fatalf("quantile %d is %d, outside %d to %d", ppm, q, h.Min(), h.Max())
			}
		}
	})
}

func part(step string, n uint64) *message.Stats {
	return &message.Stats{
		Active: n, Elapsed: 10, Logs: []string{step},
		Generator: message.Generator{Lag: recorded([]uint64{n}).Wire(), BusyMax: uint32(n), Saturated: n > 1, WaitMax: uint32(2 * n), StealMax: uint32(3 * n), Starved: n > 1, Late: n > 1, Begun: 5, Waited: n, Dropped: 2},
		Steps: []message.StepStats{{
			Name: step, Kind: message.StepRequest, Started: 4 * n, OK: n, Failed: n, TimedOut: n, Cancelled: n,
			Dropped: n, Skipped: n, BytesIn: n, BytesOut: n,
			Statuses: []message.StatusCount{{Status: 200, Count: n}, {Status: 500 + uint32(n), Count: n}},
			Errors:   []message.ErrorCount{{Kind: fmt.Sprintf("status %d", 500+n), Count: n, Example: "e"}},
			Latency:  recorded([]uint64{n}).Wire(), Service: recorded([]uint64{n}).Wire(), Metric: recorded([]uint64{n}).Wire(),
			Phases:  []message.PhaseTimes{{Phase: message.PhaseBlocked, Time: recorded([]uint64{n}).Wire()}, {Phase: message.Phase(n) + 1, Time: recorded([]uint64{9}).Wire()}},
			Windows: course([]happening{{0, int(n), n}}),
		}},
	}
}

func TestSum(t *testing.T) {
	got, err := Sum([]*message.Stats{part("home", 2), nil, part("cart", 1), part("home", 1)})
	if err != nil {
		t.Fatal(err)
	}
	both := recorded([]uint64{2, 1}).Wire()
	want := message.Stats{
		Active: 4, Elapsed: 10, Logs: []string{"home", "cart", "home"},
		Generator: message.Generator{Lag: recorded([]uint64{2, 1, 1}).Wire(), BusyMax: 2, Saturated: true, WaitMax: 4, StealMax: 6, Starved: true, Late: true, Begun: 15, Waited: 4, Dropped: 6},
		Steps: []message.StepStats{{
			Name: "home", Kind: message.StepRequest, Started: 12, OK: 3, Failed: 3, TimedOut: 3, Cancelled: 3,
			Dropped: 3, Skipped: 3, BytesIn: 3, BytesOut: 3,
			Statuses: []message.StatusCount{{Status: 200, Count: 3}, {Status: 501, Count: 1}, {Status: 502, Count: 2}},
			Errors:   []message.ErrorCount{{Kind: "status 501", Count: 1, Example: "e"}, {Kind: "status 502", Count: 2, Example: "e"}},
			Latency:  both, Service: both, Metric: both,
			Phases: []message.PhaseTimes{
				{Phase: message.PhaseBlocked, Time: both}, {Phase: message.PhaseDNS, Time: recorded([]uint64{9}).Wire()},
				{Phase: message.PhaseConnect, Time: recorded([]uint64{9}).Wire()},
			},
			Windows: course([]happening{{0, 1, 1}, {0, 2, 2}}),
		}, part("cart", 1).Steps[0]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
}

func TestSumChangesNoPart(t *testing.T) {
	parts := []*message.Stats{part("home", 2), part("home", 1), part("home", 3)}
	if _, err := Sum(parts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*message.Stats{part("home", 2), part("home", 1), part("home", 3)}, parts); diff != "" {
		t.Errorf("the parts were changed (-before +after):\n%s", diff)
	}
}

func TestSumRefusesStrangers(t *testing.T) {
	other := part("home", 1)
	other.Steps[0].Kind = message.StepCheck
	if _, err := Sum([]*message.Stats{part("home", 1), other}); !errors.Is(err, ErrParts) {
		t.Errorf("a step of two kinds: got error %v, want %v", err, ErrParts)
	}
	broken := part("home", 1)
	broken.Steps[0].Latency.Count = 7
	if _, err := Sum([]*message.Stats{broken}); !errors.Is(err, ErrHistogram) {
		t.Errorf("a broken histogram: got error %v, want %v", err, ErrHistogram)
	}
}

func TestErrorKindsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []message.ErrorCount
		var total uint64
		for _, k := range rapid.SliceOfN(rapid.IntRange(0, 100), 0, 300).Draw(t, "kinds") {
			kind := fmt.Sprintf("kind %03d", k)
			if k == 100 {
				kind = KindOther
			}
			list = AddError(list, message.ErrorCount{Kind: kind, Count: 1, Example: kind})
			total++
		}
		var sum uint64
		kinds := 0
		for i, e := range list {
			sum += e.Count
			if e.Kind != KindOther {
				kinds++
			}
			if i > 0 && list[i-1].Kind >= e.Kind {
				t.Fatalf("kinds are not ascending: %q then %q", list[i-1].Kind, e.Kind)
			}
		}
		if sum != total || kinds > KindsMax {
			t.Fatalf("got %d failures of %d kinds, want %d of at most %d", sum, kinds, total, KindsMax)
		}
	})
}

// TestStatusesAreBounded: those beyond the bound are counted together, and none is lost.
func TestStatusesAreBounded(t *testing.T) {
	var list []message.StatusCount
	const all = 3 * StatusesMax
	for i := range all {
		list = AddStatus(list, message.StatusCount{Status: uint32(all - i), Count: 1})
	}
	var sum uint64
	for i, c := range list {
		sum += c.Count
		if i > 0 && list[i-1].Status >= c.Status {
			t.Fatalf("statuses are not ascending: %d then %d", list[i-1].Status, c.Status)
		}
	}
	if sum != all || len(list) != StatusesMax+1 || list[0] != (message.StatusCount{Status: StatusOther, Count: all - StatusesMax}) {
		t.Errorf("got %d answers of %d statuses, %d of them other, want %d of %d and other", sum, len(list), list[0].Count, all, StatusesMax)
	}
}

func TestPhasesAreBounded(t *testing.T) {
	hostile := part("home", 1)
	for phase := range message.Phase(PhasesMax + 1) {
		hostile.Steps[0].Phases = append(hostile.Steps[0].Phases, message.PhaseTimes{Phase: phase + 1})
	}
	if _, err := Sum([]*message.Stats{hostile}); !errors.Is(err, ErrParts) {
		t.Errorf("got error %v, want %v", err, ErrParts)
	}
}

// The sum of messages equals the merge of the histograms themselves.
func TestSumAgreesWithMergedHistograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole Histogram
		var parts []*message.Stats
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			var h Histogram
			for _, v := range rapid.SliceOfN(rapid.Uint64Range(0, 1<<rapid.IntRange(1, 50).Draw(t, "bits")), 0, 30).Draw(t, "values") {
				h.RecordN(v, 1+v%3<<rapid.IntRange(0, 16).Draw(t, "bits of n"))
			}
			whole.Merge(&h)
			parts = append(parts, &message.Stats{Steps: []message.StepStats{{Name: "s", Kind: message.StepRequest, Latency: h.Wire()}}})
		}
		sum, err := Sum(parts)
		if err != nil {
			t.Fatal(err)
		}
		var got message.Histogram
		if len(sum.Steps) > 0 {
			got = sum.Steps[0].Latency
		}
		if diff := cmp.Diff(whole.Wire(), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-merged +summed:\n%s", diff)
		}
		if _, err := FromWire(got); err != nil {
			t.Fatalf("the sum cannot be read: %v", err)
		}
	})
}

// A sum rejects exactly what FromWire does.
func TestASumRejectsWhatItsReaderDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *Histogram {
			h := new(Histogram)
			for _, v := range rapid.SliceOfN(rapid.Uint64Range(0, 100), 1, 40).Draw(t, name) {
				h.RecordN(v, rapid.Uint64Range(1, 300).Draw(t, "n"))
			}
			return h
		}
		of := draw("of the broken one")
		broken := of.Wire()
		of.Merge(draw("others"))
		good := of.Wire()
		broken.Buckets = breakPairs(t, broken.Buckets)
		var sum sparse
		var spare []byte
		err := sum.merge(good, &spare)
		if err == nil {
			err = sum.merge(broken, &spare)
		}
		if _, fault := FromWire(broken); (err == nil) != (fault == nil) {
			t.Fatalf("%+v and %+v: %v, its reader says %v", good, broken, err, fault)
		}
	})
}

// TestSumLastsAsLongAsItsLongestPart: rates divide by it.
func TestSumLastsAsLongAsItsLongestPart(t *testing.T) {
	for _, order := range [][]*message.Stats{{{Elapsed: 3}, {Elapsed: 2}}, {{Elapsed: 2}, {Elapsed: 3}}} {
		sum, err := Sum(order)
		if err != nil || sum.Elapsed != 3 {
			t.Errorf("got %v, %v, want 3", sum.Elapsed, err)
		}
	}
}

// TestNamesOfRequestsAreBounded: beyond the bound, other counts the rest of a step's requests, and
// none is lost.
func TestNamesOfRequestsAreBounded(t *testing.T) {
	var parts []*message.Stats
	const executors, each = 3, 50
	for e := range executors {
		s := &message.Stats{Steps: []message.StepStats{{Name: "buy", Kind: message.StepFunction}}}
		for i := range each {
			s.Steps = append(s.Steps, message.StepStats{Name: fmt.Sprintf("buy/n%d-%d", e, i), Kind: message.StepPart, OK: 2})
		}
		s.Steps = append(s.Steps, message.StepStats{Name: "setup/GET /", Kind: message.StepBeside, OK: 1})
		parts = append(parts, s)
	}
	total, err := Sum(parts)
	if err != nil {
		t.Fatal(err)
	}
	var ok uint64
	names := map[string]uint64{}
	for _, s := range total.Steps {
		names[s.Name] = s.OK
		if s.Kind == message.StepPart {
			ok += s.OK
		}
	}
	if ok != 2*executors*each || names["buy/other"] != 2*(executors*each-PartsMax) || len(names) != PartsMax+3 || names["setup/GET /"] != executors {
		t.Errorf("%d requests under %d names, other has %d", ok, len(names), names["buy/other"])
	}
}

// A talkative program leaves the lines of the system, from whichever executor they come.
func TestSystemLinesHaveRoomOfTheirOwn(t *testing.T) {
	talks := func(told ...string) *message.Stats {
		s := &message.Stats{}
		var logged []string
		for i := range 2 * LogsMax {
			logged = append(logged, fmt.Sprint("line ", i))
		}
		SetLines(s, told, logged)
		return s
	}
	got, err := Sum([]*message.Stats{talks(), talks("a step has too many names", "tls: 1 of 2"), talks("a step has too many names", "tls: 2 of 2")})
	if err != nil {
		t.Fatal(err)
	}
	told, logged := Lines(&got)
	if want := []string{"a step has too many names", "tls: 1 of 2", "tls: 2 of 2"}; !slices.Equal(told, want) {
		t.Errorf("the system told %q, want %q", told, want)
	}
	if len(logged) != LogsMax || logged[0] != "line 0" || logged[LogsMax-1] != fmt.Sprint("line ", LogsMax-1) {
		t.Errorf("the program logged %q", logged)
	}
	var many []string
	for i := range 3 * LogsMax {
		many = append(many, fmt.Sprint("told ", i))
	}
	if got, err = Sum([]*message.Stats{talks(many...), talks(many...), {Logs: []string{"of a peer"}, Told: 7}}); err != nil || len(got.Logs) != 2*LogsMax || got.Told != LogsMax {
		t.Errorf("%d lines, %d of them told: %v", len(got.Logs), got.Told, err)
	}
}
