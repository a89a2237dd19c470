package stats

import (
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
