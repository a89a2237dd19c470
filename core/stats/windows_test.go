package stats

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// happening is one event that a window counts.
type happening struct {
	at      time.Duration
	what    int
	latency uint64
}

func drawHappenings(t *rapid.T, label string) []happening {
	one := rapid.Custom(func(t *rapid.T) happening {
		return happening{
			at:      time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(0, 45).Draw(t, "reach")).Draw(t, "at")),
			what:    rapid.IntRange(0, 4).Draw(t, "what"),
			latency: rapid.Uint64().Draw(t, "latency") >> rapid.IntRange(0, 63).Draw(t, "shift"),
		}
	})
	return rapid.SliceOfN(one, 0, 60).Draw(t, label)
}

// count counts it, and returns whether its latency counts, too.
func (h happening) count(w *Counts) bool {
	switch h.what {
	case 0:
		w.Started++
	case 1:
		w.OK++
	case 2:
		w.Failed++
	case 3:
		w.TimedOut++
	case 4:
		w.Bytes += h.latency >> 20
	}
	return h.what > 0
}

func course(lists ...[]happening) message.Windows {
	var w Windows
	for _, list := range lists {
		for _, h := range list {
			if h.count(w.At(h.at)) {
				w.Record(h.at, h.latency)
			}
		}
	}
	return w.Wire()
}

func merged(t *rapid.T, a, b message.Windows) message.Windows {
	out, err := mergeWindows(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWindowsAgainstTheirTwin: the model keeps everything and cuts it at the end.
func TestWindowsAgainstTheirTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawHappenings(t, "list")
		width := WindowWidth
		for _, h := range list {
			for h.at/width >= WindowsMax {
				width *= 2
			}
		}
		twin := map[time.Duration]*Window{}
		for _, h := range list {
			since := h.at / width * width
			if twin[since] == nil {
				twin[since] = new(Window)
			}
			if h.count(&twin[since].Counts) {
				twin[since].Record(h.latency)
			}
		}
		wire := course(list)
		got, err := Intervals(wire)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 && wire.Width > 0 && wire.Width != width {
			t.Fatalf("width is %v, want %v", wire.Width, width)
		}
		for i, one := range got {
			if i > 0 && got[i-1].Since >= one.Since {
				t.Fatalf("windows are not ascending: %v, %v", got[i-1].Since, one.Since)
			}
			if diff := cmp.Diff(*twin[one.Since], one.Window); diff != "" {
				t.Fatalf("window at %v (-twin +got):\n%s", one.Since, diff)
			}
			delete(twin, one.Since)
		}
		//lint:orderfree any of them is one too many
		for since, one := range twin {
			if *one != (Window{}) {
				t.Fatalf("nothing is told of %v", since)
			}
		}
	})
}

func TestWindowsMergeAsOneWouldHaveRecorded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		la, lb, lc := drawHappenings(t, "a"), drawHappenings(t, "b"), drawHappenings(t, "c")
		a, b, c := course(la), course(lb), course(lc)
		blunts, widens := 0, 0
		for _, w := range []*message.Windows{&a, &b, &c} { // each comes with losses of its own
			n, m := rapid.IntRange(0, fineBits).Draw(t, "blunts"), rapid.IntRange(0, 2).Draw(t, "widens")
			if w.Width == 0 {
				continue
			}
			blunts = max(blunts, n)
			for range n {
				*w = blunt(*w)
			}
			widens = max(widens, m)
			for range m {
				*w = widen(*w)
			}
		}
		left := merged(t, merged(t, a, b), c)
		right := merged(t, c, merged(t, b, a))
		if diff := cmp.Diff(left, right); diff != "" {
			t.Fatalf("the order matters (-left +right):\n%s", diff)
		}
		one := course(la, lb, lc)
		for range blunts {
			one = blunt(one)
		}
		for one.Width > 0 && one.Width < left.Width {
			one = widen(one)
		}
		if diff := cmp.Diff(one, left); diff != "" {
			t.Fatalf("-one +merged:\n%s", diff)
		}
		gone := merged(t, merged(t, a, message.Windows{Dropped: true}), b)
		if diff := cmp.Diff(message.Windows{Dropped: true}, gone); diff != "" {
			t.Fatalf("what is not known was made up (-want +got):\n%s", diff)
		}
	})
}

// Points of any interval together contain what the windows contain, each in its place.
func TestPointsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w Windows
		for range rapid.IntRange(0, 50).Draw(t, "ends") {
			at := time.Duration(rapid.Int64Range(0, int64(5*time.Minute)).Draw(t, "at"))
			w.At(at).OK++
			w.Record(at, rapid.Uint64().Draw(t, "latency"))
		}
		wire := w.Wire()
		interval := time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, int64(10*time.Minute)), rapid.Just(int64(longest))).Draw(t, "interval"))
		windows, err := Intervals(wire)
		if err != nil {
			t.Fatal(err)
		}
		width, points, err := Points(wire, interval)
		if err != nil || len(points) > 0 && (width < interval && width < longest/2 || width%wire.Width != 0 || width-interval >= wire.Width && width != wire.Width) {
			t.Fatalf("interval %v of windows of %v: width %v, %v", interval, wire.Width, width, err)
		}
		want := map[time.Duration]Window{}
		for _, i := range windows {
			sum := want[i.Since/width*width]
			sum.Add(&i.Window)
			want[i.Since/width*width] = sum
		}
		for i, p := range points {
			if p.Window != want[p.Since] || i > 0 && points[i-1].Since >= p.Since {
				t.Fatalf("point %d is %+v, want %+v", i, p, want[p.Since])
			}
		}
		if len(points) != len(want) {
			t.Fatalf("%d points, want %d", len(points), len(want))
		}
	})
}

func TestWindowsKeepTheirMemory(t *testing.T) {
	var w Windows
	step := 37 * time.Millisecond
	at := time.Duration(0)
	fill := func(until time.Duration) {
		for ; at < until; at += step {
			w.At(at).Started++
			w.Record(at, uint64(at))
		}
	}
	fill(WindowsMax * WindowWidth)
	if n := testing.AllocsPerRun(10, func() { step *= 2; fill(2 * at) }); n != 0 {
		t.Errorf("%v allocations after that, want 0", n)
	}
	all, err := Intervals(w.Wire())
	if err != nil || len(all) > WindowsMax || len(all) < WindowsMax/2 {
		t.Errorf("%d windows, %v: want %d to %d", len(all), err, WindowsMax/2, WindowsMax)
	}
	w.At(longest).Started++
	w.At(0).Started++
	if all, err = Intervals(w.Wire()); err != nil || all[len(all)-1].Since < longest/2 || all[0].Since != 0 {
		t.Errorf("at the end of time: %v", err)
	}
}

// TestWindowQuantile: a quantile of what several executors recorded in one window lies within a
// bucket's width of the exact one: an eighth of it at first, half as fine after each halving.
func TestWindowQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts [3]Windows
		var all []uint64
		for _, v := range rapid.SliceOfN(rapid.Uint64Range(0, 1<<41), 1, 100).Draw(t, "values") {
			v >>= rapid.IntRange(0, 40).Draw(t, "shift")
			parts[rapid.IntRange(0, len(parts)-1).Draw(t, "executor")].Record(0, v)
			all = append(all, v)
		}
		slices.Sort(all)
		var sum message.Windows
		for i := range parts {
			sum = merged(t, sum, parts[i].Wire())
		}
		blunts := rapid.IntRange(0, fineBits).Draw(t, "blunts")
		for range blunts {
			sum = blunt(sum)
		}
		if n, err := Fineness(sum); err != nil || n != FineMost>>blunts {
			t.Fatalf("%d buckets an octave, %v, want %d", n, err, FineMost>>blunts)
		}
		list, err := Intervals(sum)
		if err != nil {
			t.Fatal(err)
		}
		for _, ppm := range []uint32{0, 500_000, 900_000, 990_000, million} {
			got, exact := list[0].Quantile(ppm), all[rank(uint64(len(all)), ppm)-1]
			if off := max(got, exact) - min(got, exact); off > max(exact/FineMost, 2<<bucketShift/FineMost)<<blunts {
				t.Fatalf("quantile %d is %d, want %d within a part in %d", ppm, got, exact, FineMost>>blunts)
			}
		}
	})
	if got := new(Window).Quantile(500_000); got != 0 {
		t.Errorf("quantile of nothing: got %d, want 0", got)
	}
}

// TestWindowsOfWholeOctaves: what executors wrote before octaves were split is read, merged at
// octaves, and written in the same bytes.
func TestWindowsOfWholeOctaves(t *testing.T) {
	// Window 0: 3 began, 2 ended well after 4096 ns to 8191 ns. Window 2: one failed after 1 h or more.
	old := message.Windows{Width: WindowWidth, Data: []byte{1, 3, 2, 0, 0, 9, 1, 3, 2, 2, 0, 0, 1, 0, 0, 1, 32, 1}}
	var want [2]Window
	want[0].Counts, want[0].Coarser = Counts{Started: 3, OK: 2, Bytes: 9}, fineBits
	want[0].Latency[3*FineMost-1] = 2
	want[1].Counts, want[1].Coarser = Counts{Failed: 1}, fineBits
	want[1].Latency[LatencyBuckets-1] = 1
	all, err := Intervals(old)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Interval{{0, want[0]}, {2 * WindowWidth, want[1]}}, all); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if LatencyBound(3*FineMost-1) != 8191 {
		t.Errorf("the bucket ends at %d, want 8191", LatencyBound(3*FineMost-1))
	}
	var w Windows
	w.Record(0, 5000)
	sum, err := mergeWindows(w.Wire(), old)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]byte{1, 3, 2, 0, 0, 9, 1, 3, 3, 2, 0, 0, 1, 0, 0, 1, 32, 1}, sum.Data); diff != "" {
		t.Errorf("with a new one (-want +got):\n%s", diff)
	}
}

// TestWindowsAreSmall: windows need memory for the octaves in use alone, and no more after the run
// has outgrown them.
func TestWindowsAreSmall(t *testing.T) {
	var w Windows
	values, i := spread(), 0
	record := func(until time.Duration, each time.Duration) {
		for at := time.Duration(0); at < until; at += each {
			w.At(at).OK++
			w.Record(at, values[i%len(values)])
			i++
		}
	}
	record(WindowsMax*WindowWidth, time.Millisecond)
	size := len(w.pages)*int(unsafe.Sizeof([chunkLen]page{})) + len(w.chunks)*int(unsafe.Sizeof([chunkLen]slot{}))
	t.Logf("%d bytes in memory, %d in a message", size, len(w.Wire().Data))
	if size > 384<<10 {
		t.Errorf("512 windows of 100 latencies need %d bytes, want at most 384 KiB", size)
	}
	var most int
	for n := range 64 * WindowsMax {
		w.Record(time.Duration(n)*WindowWidth/4, uint64(1)<<(n%64)) // all octaves of all windows
		most = max(most, len(w.pages))
	}
	if limit := WindowsMax * windowOctaves / chunkLen; most > limit {
		t.Errorf("%d chunks of pages, want at most %d", most, limit)
	}
}

func TestHostileWindows(t *testing.T) {
	one := []byte{1, 1, 0, 0, 0, 0, 0}
	for _, tt := range []struct {
		name string
		in   message.Windows
	}{
		{"data without a width", message.Windows{Data: one}},
		{"a width without data", message.Windows{Width: WindowWidth}},
		{"a width of no series", message.Windows{Width: WindowWidth + 1, Data: one}},
		{"a negative width", message.Windows{Width: -WindowWidth, Data: one}},
		{"both dropped and there", message.Windows{Width: WindowWidth, Data: one, Dropped: true}},
		{"a window told twice", message.Windows{Width: WindowWidth, Data: []byte{1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}}},
		{"an empty window", message.Windows{Width: WindowWidth, Data: []byte{1, 0, 0, 0, 0, 0, 0}}},
		{"a window beyond the last", message.Windows{Width: WindowWidth, Data: []byte{0x81, 4, 1, 0, 0, 0, 0, 0}}},
		{"a window beyond time", message.Windows{Width: WindowWidth << doublingsMax, Data: []byte{0x80, 4, 1, 0, 0, 0, 0, 0}}},
		{"too many buckets", message.Windows{Width: WindowWidth, Data: []byte{1, 1, 0, 0, 0, 0, 33}}},
		{"a bucket beyond the last", message.Windows{Width: WindowWidth, Data: []byte{1, 1, 0, 0, 0, 0, 1, 33, 1}}},
		{"octaves that are split no times", message.Windows{Width: WindowWidth, Data: append([]byte{0, 0}, one...)}},
		{"octaves that are split too often", message.Windows{Width: WindowWidth, Data: append([]byte{0, fineBits + 1}, one...)}},
		{"split octaves without windows", message.Windows{Width: WindowWidth, Data: []byte{0, 1}}},
		{"split octaves that are cut off", message.Windows{Width: WindowWidth, Data: []byte{0}}},
		{"a bucket beyond the last of halves", message.Windows{Width: WindowWidth, Data: []byte{0, 1, 1, 1, 0, 0, 0, 0, 1, 65, 1}}},
		{"an empty bucket", message.Windows{Width: WindowWidth, Data: []byte{1, 1, 0, 0, 0, 0, 1, 1, 0}}},
		{"a window cut off", message.Windows{Width: WindowWidth, Data: one[:5]}},
		{"an endless number", message.Windows{Width: WindowWidth, Data: bytes.Repeat([]byte{255}, 12)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Intervals(tt.in); !errors.Is(err, ErrWindows) {
				t.Errorf("got error %v, want %v", err, ErrWindows)
			}
			s := message.Stats{Steps: []message.StepStats{{Name: "s", Kind: message.StepRequest, Windows: tt.in}}}
			if _, err := Sum([]*message.Stats{{}, &s}); !errors.Is(err, ErrWindows) {
				t.Errorf("the sum: got error %v, want %v", err, ErrWindows)
			}
		})
	}
}

func FuzzIntervals(f *testing.F) {
	seed := course([]happening{{0, 0, 0}, {time.Second, 1, 5000}, {time.Hour, 2, 1 << 40}})
	f.Add(int64(seed.Width), seed.Data, false)
	f.Add(int64(WindowWidth<<doublingsMax), []byte{1, 1, 0, 0, 0, 0, 1, 32, 1}, false)
	f.Add(int64(0), []byte(nil), true)
	f.Add(int64(WindowWidth), []byte{0, 1, 1, 1, 0, 0, 0, 0, 1, 64, 1}, false)
	f.Fuzz(func(t *testing.T, width int64, data []byte, dropped bool) {
		in := message.Windows{Width: time.Duration(width), Data: data, Dropped: dropped}
		all, err := Intervals(in)
		if err != nil {
			return
		}
		if len(all) > WindowsMax {
			t.Fatalf("%d windows, want at most %d", len(all), WindowsMax)
		}
		for i := range all {
			if all[i].Since < 0 || i > 0 && all[i].Since <= all[i-1].Since {
				t.Fatalf("window %d is at %v", i, all[i].Since)
			}
			all[i].Quantile(990_000)
		}
		twice, err := mergeWindows(in, in)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Intervals(twice)
		if err != nil || len(again) != len(all) && !dropped {
			t.Fatalf("twice the same has %d windows, %v, want %d", len(again), err, len(all))
		}
		if _, err := Intervals(widen(in)); err != nil {
			t.Fatalf("a wider one cannot be read: %v", err)
		}
		if _, err := Intervals(blunt(in)); err != nil {
			t.Fatalf("a coarser one cannot be read: %v", err)
		}
	})
}

func BenchmarkWindowsAt(b *testing.B) {
	b.ReportAllocs()
	var w Windows
	at := time.Duration(0)
	for b.Loop() {
		w.At(at).Started++
		w.Record(at, uint64(at))
		at += 10 * time.Microsecond
	}
}

func BenchmarkMergeWindows(b *testing.B) {
	b.ReportAllocs()
	in := phased(1).Steps[0].Windows
	for b.Loop() {
		if _, err := mergeWindows(in, in); err != nil {
			b.Fatal(err)
		}
	}
}
