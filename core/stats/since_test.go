package stats

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// Since returns what was recorded since, except for the extremes, which it knows to a bucket.
// It rejects an earlier state that holds more.
func TestSinceAgainstItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, fresh Histogram
		value := rapid.Uint64Range(0, 1<<40)
		for _, v := range rapid.SliceOf(value).Draw(t, "before") {
			whole.Record(v)
		}
		before := whole.Wire()
		for _, v := range rapid.SliceOf(value).Draw(t, "since") {
			whole.Record(v)
			fresh.Record(v)
		}
		got, ok, err := Since(whole.Wire(), before)
		if want := fresh.Wire(); !ok || err != nil || got.Count != want.Count || string(got.Buckets) != string(want.Buckets) {
			t.Fatalf("got %+v (%v, %v), want %+v", got, ok, err, want)
		}
		if fresh.Count() > 0 {
			if _, ok, err := Since(before, whole.Wire()); ok || err != nil {
				t.Fatalf("a later state was taken for an earlier one (%v)", err)
			}
		}
	})
	if _, _, err := Since(message.Histogram{Count: 1}, message.Histogram{Count: 2}); err == nil {
		t.Error("what is no histogram was read")
	}
}

// Subtract is Sub of what both messages hold, also if the older one is no earlier state, and rejects what FromWire does.
func TestSubtractAgainstItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (h Histogram) {
			for _, v := range rapid.SliceOf(rapid.Uint64Range(0, 1<<rapid.IntRange(1, 60).Draw(t, "bits"))).Draw(t, name) {
				h.RecordN(v, rapid.Uint64Range(1, 1<<rapid.IntRange(1, 20).Draw(t, "bits of n")).Draw(t, "n"))
			}
			return h
		}
		now, older := draw("now"), draw("older")
		if rapid.Bool().Draw(t, "an earlier state") {
			now.Merge(&older)
		}
		got, err := Subtract(now.Wire(), older.Wire())
		want := now.Sub(&older).Wire()
		if err != nil || got.Count != want.Count || got.Sum != want.Sum || got.Min != want.Min || got.Max != want.Max || string(got.Buckets) != string(want.Buckets) {
			t.Fatalf("got %+v (%v), want %+v", got, err, want)
		}
		both := [2]message.Histogram{now.Wire(), older.Wire()}
		broken := &both[rapid.IntRange(0, 1).Draw(t, "broken")]
		broken.Buckets = breakPairs(t, broken.Buckets)
		_, err = Subtract(both[0], both[1])
		if _, fault := FromWire(*broken); (err == nil) != (fault == nil) {
			t.Fatalf("%+v minus %+v: %v, its reader says %v", both[0], both[1], err, fault)
		}
	})
	good, bad := message.Histogram{Count: 1, Sum: 1, Min: 1, Max: 1, Buckets: []byte{2, 1}}, message.Histogram{Count: 1, Buckets: []byte{1}}
	for _, in := range [][2]message.Histogram{{good, bad}, {bad, good}} {
		if _, err := Subtract(in[0], in[1]); err == nil {
			t.Errorf("%+v was read", in)
		}
	}
}

// breakPairs changes a byte, or adds a bucket that is empty among the others.
func breakPairs(t *rapid.T, b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	out := bytes.Clone(b)
	if rapid.Bool().Draw(t, "change") {
		out[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		return out
	}
	out = out[:0]
	for skip := rapid.IntRange(0, 20).Draw(t, "skip"); len(b) > 0; skip-- {
		gap, n, rest, err := pair(b)
		if err != nil {
			t.Fatal(err)
		}
		if skip <= 0 && gap > 1 {
			return append(appendPair(append(out, 1, 0), int(gap)-1, n), rest...)
		}
		out, b = appendPair(out, int(gap), n), rest
	}
	return out
}
