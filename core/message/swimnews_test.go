package message_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tinylib/msgp/msgp"

	"hyperscale/core/message"
)

// The most frequent news of a group is short: a suspicion and its refutation.
func TestNewsAreSmall(t *testing.T) {
	for _, r := range []struct {
		why  string
		news message.SwimNews
		want int
	}{
		{"a suspicion", message.SwimNews{Node: "m7", Incarnation: 3<<32 + 200, State: 1, By: "m9"}, 10},
		{"its refutation", message.SwimNews{Node: "m7", Incarnation: 3<<32 + 201}, 7},
		{"a join", message.SwimNews{Node: "m7", Incarnation: 3 << 32, Addr: "10.0.0.7:7946", Role: 4}, 21},
	} {
		if got := r.news.Bytes(); got != r.want {
			t.Errorf("%s takes %d bytes, want %d", r.why, got, r.want)
		}
	}
}

// FuzzNews: hostile bytes never panic, and each decoded list has one encoding.
func FuzzNews(f *testing.F) {
	for _, l := range []message.SwimNewsList{
		{{Node: "a", Incarnation: 1 << 32}},
		{{Node: "a", Incarnation: 1<<32 + 1, State: 1, By: "b"}, {Node: "c", Addr: "c:1", Role: 4, Incarnation: 7 << 32, State: 2, Age: 1e9 + 1}},
		{{Node: "a", Incarnation: 1, State: 200, Age: -5e6}},
	} {
		b, err := l.MarshalMsg(nil)
		if err != nil {
			f.Fatal(err)
		}
		packed, _, err := msgp.ReadBytesZC(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		b := msgp.AppendBytes(nil, packed)
		var l message.SwimNewsList
		if _, err := l.UnmarshalMsg(b); err != nil {
			return
		}
		again, err := l.MarshalMsg(nil)
		if err != nil || len(again) != l.Msgsize() {
			t.Fatalf("%d bytes, size says %d: %v", len(again), l.Msgsize(), err)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Fatalf("another encoding of the same news (-read +written):\n%s", diff)
		}
	})
}
