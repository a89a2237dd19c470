package stats

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// sample is one request as the model remembers it.
type sample struct {
	step    int
	at      time.Duration
	latency uint64
	status  uint32
	failure string
	phase   message.Phase
}

func drawSamples(t *rapid.T, least, most int) []sample {
	one := rapid.Custom(func(t *rapid.T) sample {
		return sample{
			step: rapid.IntRange(0, 2).Draw(t, "step"), at: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "at")),
			latency: rapid.Uint64Range(0, 1<<40).Draw(t, "latency") >> rapid.IntRange(0, 40).Draw(t, "shift"),
			status:  rapid.SampledFrom([]uint32{0, 200, 404, 500}).Draw(t, "status"),
			failure: rapid.SampledFrom([]string{"", "refused", "timeout", KindOther}).Draw(t, "failure"),
			phase:   message.Phase(rapid.IntRange(1, 4).Draw(t, "phase")),
		}
	})
	return rapid.SliceOfN(one, least, most).Draw(t, "samples")
}

// measured returns one executor's figures of raw samples, with each step in its order.
func measured(samples []sample) *message.Stats {
	s := &message.Stats{Active: uint64(len(samples)), Elapsed: time.Minute}
	var lag Histogram
	for step := range 3 {
		var latency, service, metric Histogram
		var windows Windows
		phases, statuses, failures := map[message.Phase]*Histogram{}, map[uint32]uint64{}, map[string]uint64{}
		out := message.StepStats{Name: fmt.Sprint("step ", step), Kind: message.StepRequest}
		for _, x := range samples {
			if x.step != step {
				continue
			}
			lag.Record(x.latency / 3)
			for k := range uint64(20) { // widely spread, so that the figures are large
				latency.Record(x.latency + k*(x.latency>>7))
			}
			service.Record(x.latency / 2)
			metric.Record(x.latency + 1)
			if phases[x.phase] == nil {
				phases[x.phase] = new(Histogram)
			}
			for k := range uint64(10) {
				phases[x.phase].Record(x.latency + k*(x.latency>>7))
				windows.At(x.at+time.Duration(k)*time.Second).Started++
			}
			w := windows.At(x.at)
			out.Started++
			if x.failure == "" {
				w.OK++
				out.OK++
			} else {
				w.Failed++
				out.Failed++
				failures[x.failure]++
			}
			windows.Record(x.at, x.latency)
			out.BytesIn += x.latency
			statuses[x.status]++
		}
		out.Latency, out.Service, out.Metric, out.Windows = latency.Wire(), service.Wire(), metric.Wire(), windows.Wire()
		for phase := message.Phase(1); phase <= 4; phase++ {
			if phases[phase] != nil {
				out.Phases = append(out.Phases, message.PhaseTimes{Phase: phase, Time: phases[phase].Wire()})
			}
		}
		for _, status := range slices.Sorted(maps.Keys(statuses)) {
			out.Statuses = append(out.Statuses, message.StatusCount{Status: status, Count: statuses[status]})
		}
		for _, kind := range slices.Sorted(maps.Keys(failures)) {
			out.Errors = append(out.Errors, message.ErrorCount{Kind: kind, Count: failures[kind], Example: "example of " + kind})
		}
		s.Steps = append(s.Steps, out)
	}
	s.Generator.Lag = lag.Wire()
	return s
}

// TestSumIsWhatOneWouldHaveMeasured: the sum of parts equals the figures of all raw samples,
// for any division into parts.
func TestSumIsWhatOneWouldHaveMeasured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := drawSamples(t, 0, 60)
		dealt := make([][]sample, rapid.IntRange(1, 4).Draw(t, "parts"))
		for _, x := range samples {
			to := rapid.IntRange(0, len(dealt)-1).Draw(t, "to")
			dealt[to] = append(dealt[to], x)
		}
		var parts []*message.Stats
		for _, list := range dealt {
			parts = append(parts, measured(list))
		}
		got, err := Sum(parts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*measured(samples), got); diff != "" {
			t.Fatalf("the sum of %d parts (-one +sum):\n%s", len(parts), diff)
		}
	})
}

// exact returns all that Fit must not change.
func exact(s *message.Stats) message.Stats {
	out := *s
	out.Logs, out.Told = nil, 0
	bare := func(h *message.Histogram) { h.Buckets = nil }
	bare(&out.Generator.Lag)
	out.Steps = append([]message.StepStats(nil), s.Steps...)
	for i := range out.Steps {
		step := &out.Steps[i]
		step.Windows = message.Windows{}
		step.Phases = append([]message.PhaseTimes(nil), step.Phases...)
		step.Errors = append([]message.ErrorCount(nil), step.Errors...)
		for k := range step.Errors {
			step.Errors[k].Example = ""
		}
		for k := range step.Phases {
			bare(&step.Phases[k].Time)
		}
		bare(&step.Latency)
		bare(&step.Service)
		bare(&step.Metric)
	}
	return out
}

// floor returns the smallest statistics that Fit may produce, with the lines of another.
func floor(s, lines *message.Stats) *message.Stats {
	out := exact(s)
	out.Logs, out.Told = lines.Logs, lines.Told
	out.Generator.Lag = coarsen(s.Generator.Lag, subBits)
	for i := range out.Steps {
		step, was := &out.Steps[i], &s.Steps[i]
		step.Latency, step.Service, step.Metric = coarsen(was.Latency, subBits), coarsen(was.Service, subBits), coarsen(was.Metric, subBits)
		for k := range step.Phases {
			step.Phases[k].Time = coarsen(was.Phases[k].Time, subBits)
		}
		step.Windows = message.Windows{Dropped: was.Windows.Width != 0}
	}
	return &out
}

// TestFitKeepsCountsAndFits: for any bound, counts, sums and extremes stay. Statistics above
// the bound are at their floor, and those that fit are unchanged. All others are readable,
// their course contains everything that happened, and the parts do not change.
func TestFitKeepsCountsAndFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := drawSamples(t, rapid.SampledFrom([]int{0, 20, 40}).Draw(t, "least"), 40)
		s := measured(samples)
		for i := range rapid.IntRange(0, LogsMax).Draw(t, "logs") {
			s.Logs = append(s.Logs, fmt.Sprint("line ", i))
		}
		before, shared := measured(samples), *s
		before.Logs = slices.Clone(s.Logs)
		whole := SizeOf(s)
		most := whole * rapid.IntRange(0, 110).Draw(t, "percent") / 100
		Fit(s, most)
		if diff := cmp.Diff(before, &shared); diff != "" {
			t.Fatalf("what others share changed:\n%s", diff)
		}
		if whole <= most {
			if diff := cmp.Diff(before, s); diff != "" {
				t.Fatalf("what fits changed:\n%s", diff)
			}
			return
		}
		if diff := cmp.Diff(exact(before), exact(s)); diff != "" {
			t.Fatalf("what must stay changed:\n%s", diff)
		}
		if _, logged := Lines(s); !slices.Equal(logged, before.Logs) {
			t.Fatalf("what was lost left the lines %q of %q", logged, before.Logs)
		}
		if least := floor(before, s); SizeOf(s) > most && SizeOf(s) != SizeOf(least) {
			t.Fatalf("%d bytes are left of %d, at most %d may stay, %d would do:\n%s", SizeOf(s), whole, most, SizeOf(least), cmp.Diff(least, s))
		}
		sameCourse(t, before, s)
		if _, err := Sum([]*message.Stats{s, before}); err != nil {
			t.Fatalf("what is left cannot be added up: %v", err)
		}
	})
}

// sameCourse compares the totals of two courses, if the second still exists.
func sameCourse(t *rapid.T, was, is *message.Stats) {
	for i := range is.Steps {
		w := is.Steps[i].Windows
		if w.Dropped {
			if w.Width != 0 || was.Steps[i].Windows.Width == 0 {
				t.Fatalf("step %d drops a course: %+v", i, w)
			}
			continue
		}
		sum := inAll(t, was.Steps[i].Windows)
		all := inAll(t, w)
		sum.Add(&Window{Coarser: all.Coarser}) // it may have become coarser
		if diff := cmp.Diff(sum, all); diff != "" {
			t.Fatalf("the course of step %d, in all (-was +is):\n%s", i, diff)
		}
	}
}

func inAll(t *rapid.T, w message.Windows) (sum Window) {
	all, err := Intervals(w)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		sum.Add(&all[i].Window)
	}
	return sum
}

// TestBareKeepsCounts: without its distributions a step still reports every count, and that its
// course is gone.
func TestBareKeepsCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := measured(drawSamples(t, 0, 20))
		for i := range s.Steps {
			was := s.Steps[i]
			is := was
			Bare(&is)
			if is.Windows.Dropped != (was.Windows.Width != 0) || is.Windows.Width != 0 || is.Phases != nil || is.Latency.Count != 0 || is.Service.Count != 0 || is.Metric.Count != 0 {
				t.Fatalf("left of %+v: %+v", was, is)
			}
			was.Latency, was.Service, was.Metric, was.Phases, was.Windows = is.Latency, is.Service, is.Metric, is.Phases, is.Windows
			if diff := cmp.Diff(was, is); diff != "" {
				t.Fatal(diff)
			}
			Bare(&is)
			if is.Windows.Dropped != (s.Steps[i].Windows.Width != 0) {
				t.Fatal("what was dropped is forgotten")
			}
		}
	})
}

// spoiled changes some of the bytes and figures of a histogram.
func spoiled(t *rapid.T, h message.Histogram) message.Histogram {
	h.Buckets = spoil(t, h.Buckets)
	for _, n := range []*uint64{&h.Count, &h.Sum, &h.Min, &h.Max} {
		switch rapid.IntRange(0, 9).Draw(t, "figure") {
		case 0:
			*n++
		case 1:
			*n--
		case 2:
			*n = rapid.Uint64().Draw(t, "to")
		}
	}
	return h
}

// endless is a number that fits no word.
const endless = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

func spoil(t *rapid.T, b []byte) []byte {
	b = append([]byte(nil), b...)
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		at := rapid.OneOf(rapid.Just(0), rapid.Just(len(b)), rapid.IntRange(0, len(b))).Draw(t, "at")
		switch how := rapid.IntRange(0, 3).Draw(t, "how"); {
		case how == 0:
			b = b[:at]
		case how == 1 && at < len(b):
			b[at] = rapid.Byte().Draw(t, "byte")
		case how == 2:
			b = append(b[:at:at], append([]byte(endless), b[at:]...)...)
		case how == 3:
			b = append(b[:at:at], append([]byte{0}, b[at:]...)...)
		}
	}
	return b
}

// TestHostileHistogramsAreReadByAllOrNone: for any bytes, all readers agree whether they are a
// histogram. A histogram stays the same through a second reading and a sum.
func TestHostileHistogramsAreReadByAllOrNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues(t, "values")
		h := recorded(values[:min(len(values), 5)]).Wire()
		in := spoiled(t, h)
		read, err := FromWire(in)
		_, quantileErr := Quantile(in, 500_000)
		for at := range h.Buckets { // truncated, or with a number that is too long, at any place
			for _, data := range [][]byte{h.Buckets[:at], append(h.Buckets[:at:at], endless...)} {
				cut := h
				cut.Buckets = data
				if _, err := FromWire(cut); !errors.Is(err, ErrHistogram) {
					t.Fatalf("%+v is read: %v", cut, err)
				}
			}
		}
		step := message.StepStats{Name: "hostile", Kind: message.StepRequest}
		*rapid.SampledFrom([]*message.Histogram{&step.Latency, &step.Service, &step.Metric}).Draw(t, "figure") = in
		part := &message.Stats{Steps: []message.StepStats{step}}
		if rapid.Bool().Draw(t, "lag") {
			part = &message.Stats{Generator: message.Generator{Lag: in}}
		}
		sum, sumErr := Sum([]*message.Stats{part, nil})
		one := message.Histogram{Count: 1, Sum: 1, Min: 1, Max: 1, Buckets: []byte{2, 1}}
		_, _, sinceErr := Since(in, one)
		_, _, beforeErr := Since(one, in)
		if in.Count == 0 {
			beforeErr = err // with nothing before, the difference reads nothing
		}
		//lint:orderfree any one that is found fails the test
		for who, got := range map[string]error{"a quantile": quantileErr, "a sum": sumErr, "a difference": sinceErr, "one from it": beforeErr} {
			if (got == nil) != (err == nil) || got != nil && !errors.Is(got, ErrHistogram) {
				t.Fatalf("%+v: %s says %v, a reader %v", in, who, got, err)
			}
		}
		if err != nil {
			if coarse := coarsen(in, 3); !reflect.DeepEqual(coarse, in) {
				t.Fatalf("what is no histogram was made coarser: %+v", coarse)
			}
			if part.Steps != nil && !strings.Contains(sumErr.Error(), `step "hostile"`) {
				t.Fatalf("the sum names no step: %v", sumErr)
			}
			return
		}
		again, err := FromWire(read.Wire())
		if err != nil {
			t.Fatal(err)
		}
		compare(t, again, read)
		whole := sum.Generator.Lag
		if part.Steps != nil {
			whole = sum.Steps[0].Latency
			whole.Count += sum.Steps[0].Service.Count + sum.Steps[0].Metric.Count
		}
		if whole.Count != read.Count() {
			t.Fatalf("the sum counts %d of %d", whole.Count, read.Count())
		}
		if want := read.Sum() / max(1, read.Count()); read.Mean() != want {
			t.Fatalf("the mean is %d, want %d", read.Mean(), want)
		}
		var dumb Histogram
		read.Each(dumb.RecordN)
		for _, ppm := range []uint32{1, 500_000, million} {
			if got, want := dumb.Quantile(ppm), read.Quantile(ppm); read.Count() < countMax && got != want {
				t.Fatalf("quantile %d of what each bucket tells is %d, want %d", ppm, got, want)
			}
		}
	})
}

// TestHostileCoursesAreReadByAllOrNone: the same for courses over time.
func TestHostileCoursesAreReadByAllOrNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawHappenings(t, "list")
		in := course(list[:min(len(list), 4)])
		in.Data = spoil(t, in.Data)
		switch rapid.IntRange(0, 9).Draw(t, "figure") {
		case 0:
			in.Width *= 2
		case 1:
			in.Width = time.Duration(rapid.Int64().Draw(t, "width"))
		case 2:
			in.Width = WindowWidth << rapid.IntRange(0, doublingsMax+1).Draw(t, "doublings")
		case 3:
			in.Dropped = true
		}
		_, err := Intervals(in)
		other := course([]happening{{0, 0, 0}})
		left, leftErr := mergeWindows(in, other)
		right, rightErr := mergeWindows(other, in)
		_, _, pointsErr := Points(in, time.Second)
		step := message.StepStats{Name: "s", Kind: message.StepRequest, Windows: in}
		_, sumErr := Sum([]*message.Stats{{Steps: []message.StepStats{step}}})
		//lint:orderfree any one that is found fails the test
		for who, got := range map[string]error{"a merge": leftErr, "a merge from the right": rightErr, "a plot": pointsErr, "a sum": sumErr} {
			if (got == nil) != (err == nil) || got != nil && !errors.Is(got, ErrWindows) {
				t.Fatalf("%+v: %s says %v, a reader %v", in, who, got, err)
			}
		}
		for at := range in.Data { // a truncated number, or one that is too long, at any place
			for _, data := range [][]byte{in.Data[:at], append(in.Data[:at:at], endless...)} {
				cut := message.Windows{Width: in.Width, Data: data}
				_, cutErr := Intervals(cut)
				if _, sum := mergeWindows(cut, other); (sum == nil) != (cutErr == nil) || sum != nil && !errors.Is(sum, ErrWindows) {
					t.Fatalf("%+v: a merge says %v, a reader %v", cut, sum, cutErr)
				}
			}
		}
		wider := widen(in)
		if err != nil {
			if !reflect.DeepEqual(wider, in) {
				t.Fatalf("what is no course was made wider: %+v", wider)
			}
			return
		}
		if diff := cmp.Diff(left, right); diff != "" {
			t.Fatalf("the order matters:\n%s", diff)
		}
		if _, err := Intervals(left); err != nil {
			t.Fatalf("the sum cannot be read: %v", err)
		}
		if diff := cmp.Diff(inAll(t, in), inAll(t, wider)); diff != "" {
			t.Fatalf("a wider course holds another sum:\n%s", diff)
		}
	})
}

// TestListsAreBounded: statuses, kinds, steps and phases beyond their bounds are counted
// together or rejected, and no count is lost.
func TestListsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []message.StatusCount
		n := rapid.IntRange(0, 2*StatusesMax).Draw(t, "statuses")
		from := rapid.Uint32Range(0, 3).Draw(t, "from")
		for i := range n {
			status := from + uint32(i)
			if rapid.Uint32Range(0, 1).Draw(t, "order") == 0 && i%97 == 0 {
				status = StatusOther
			}
			list = AddStatus(list, message.StatusCount{Status: status, Count: 2})
			if i > 1200 {
				break
			}
		}
		var sum uint64
		named := 0
		for i, c := range list {
			sum += c.Count
			if c.Status != StatusOther {
				named++
			}
			if i > 0 && list[i-1].Status >= c.Status {
				t.Fatalf("status %d after %d", c.Status, list[i-1].Status)
			}
		}
		if want := 2 * uint64(min(n, 1202)); sum != want || named > StatusesMax {
			t.Fatalf("%d answers of %d statuses, want %d of at most %d", sum, named, want, StatusesMax)
		}
		var kinds []message.ErrorCount
		failures := rapid.IntRange(0, 2*KindsMax).Draw(t, "failures")
		for i := range failures {
			kind := fmt.Sprintf("kind %03d", (i*37)%101)
			if rapid.IntRange(0, 20).Draw(t, "other") == 0 {
				kind = KindOther
			}
			kinds = AddError(kinds, message.ErrorCount{Kind: kind, Count: 3, Example: kind})
		}
		sum, named = 0, 0
		for i, e := range kinds {
			sum += e.Count
			if e.Kind != KindOther {
				named++
			}
			if e.Example == "" || e.Kind != KindOther && e.Example != e.Kind || i > 0 && kinds[i-1].Kind >= e.Kind {
				t.Fatalf("kind %d is %+v", i, e)
			}
		}
		if sum != 3*uint64(failures) || named > KindsMax {
			t.Fatalf("%d failures of %d kinds, want %d of at most %d", sum, named, 3*failures, KindsMax)
		}
		steps := rapid.IntRange(StepsMax-1, StepsMax+1).Draw(t, "steps")
		phases := rapid.IntRange(PhasesMax-1, PhasesMax+1).Draw(t, "phases")
		s := &message.Stats{Steps: make([]message.StepStats, steps)}
		for i := range s.Steps {
			s.Steps[i].Name, s.Steps[i].Kind = fmt.Sprint(i), message.StepRequest
		}
		for i := range phases {
			s.Steps[0].Phases = append(s.Steps[0].Phases, message.PhaseTimes{Phase: message.Phase(i + 1)})
		}
		twice := rapid.Bool().Draw(t, "other kind")
		if twice {
			s.Steps = append(s.Steps, message.StepStats{Name: "1", Kind: message.StepCheck})
		}
		_, err := Sum([]*message.Stats{s})
		if refused := steps > StepsMax || phases > PhasesMax || twice; refused != errors.Is(err, ErrParts) || !refused && err != nil {
			t.Fatalf("%d steps, %d phases, a step of two kinds %v: %v", steps, phases, twice, err)
		}
	})
}

// TestResetIsAnEmptyOne: what a histogram held before its reset does not show after it.
func TestResetIsAnEmptyOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := recorded(drawValues(t, "before"))
		h.Reset()
		values := drawValues(t, "after")
		for _, v := range values {
			h.Record(v)
		}
		compare(t, h, recorded(values))
	})
}

// TestBucketsOfWindowsHoldTheirValues: a latency is at most the bound of its bucket and above
// that of the bucket before. A window at any instant is found again.
func TestBucketsOfWindowsHoldTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64().Draw(t, "value") >> rapid.IntRange(0, 63).Draw(t, "shift")
		i := BucketOf(v)
		if v > LatencyBound(i) && i < LatencyBuckets-1 || i > 0 && v <= LatencyBound(i-1) {
			t.Fatalf("%d is in bucket %d, whose bound is %d", v, i, LatencyBound(i))
		}
		var w Windows
		at := rapid.OneOf(rapid.Int64Range(0, int64(longest)), rapid.Int64Range(int64(longest)-int64(time.Hour), int64(longest))).Draw(t, "at")
		w.At(time.Duration(at)).OK = v | 1
		all, err := Intervals(w.Wire())
		if err != nil || len(all) != 1 || all[0].OK != v|1 || all[0].Since > time.Duration(at) || time.Duration(at)-all[0].Since >= w.width() {
			t.Fatalf("at %d: %+v, %v", at, all, err)
		}
		if again := w.At(time.Duration(at)); again.OK != v|1 {
			t.Fatalf("at %d a second time: %+v", at, again)
		}
		full := Window{}
		last := 0
		for i := range full.Latency {
			if full.Latency[i] = rapid.SampledFrom([]uint64{0, 0, 1, 1 << 63, 1<<64 - 1}).Draw(t, "count"); full.Latency[i] > 0 {
				last = i
			}
		}
		if q := full.Quantile(rapid.Uint32Range(0, million).Draw(t, "ppm")); q > LatencyBound(last)+1 {
			t.Fatalf("a quantile of %v is %d, the highest bucket ends at %d", full.Latency, q, LatencyBound(last))
		}
	})
}
