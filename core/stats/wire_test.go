package stats

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// TestFourPairsAreFourTimesOne: what the four pairs of a word say together is what they say one by one, and a
// zero or a large number among them is left to pair.
func TestFourPairsAreFourTimesOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]byte{1, 127, 128, 255}).Draw(t, "most")
		b := rapid.SliceOfN(rapid.ByteRange(0, most), 0, 2*fourPairs).Draw(t, "bytes")
		gaps, counts, ok := fours(b)
		var wantGaps, wantCounts uint64
		want := len(b) >= fourPairs
		for i := 0; want && i < fourPairs; i += 2 {
			want = b[i] > 0 && b[i] < 0x80 && b[i+1] > 0 && b[i+1] < 0x80
			wantGaps, wantCounts = wantGaps+uint64(b[i]), wantCounts+uint64(b[i+1])
		}
		if ok != want || ok && (gaps != wantGaps || counts != wantCounts) {
			t.Fatalf("fours(%v) = %d, %d, %v, want %d, %d, %v", b, gaps, counts, ok, wantGaps, wantCounts, want)
		}
	})
}

// TestBoundsHoldAmongFourPairs: a bucket that is none, and counts that are more or fewer than the histogram
// says, are found wherever they stand.
func TestBoundsHoldAmongFourPairs(t *testing.T) {
	const pairs = 11
	sound := func() message.Histogram { // the values 0, 1, 2 ... once each
		return message.Histogram{Count: pairs, Sum: pairs * (pairs - 1) / 2, Max: pairs - 1, Buckets: bytes.Repeat([]byte{1}, 2*pairs)}
	}
	if _, err := check(sound()); err != nil {
		t.Fatal(err)
	}
	for at := range 2 * pairs {
		for _, n := range []byte{0, 2, 0x7f} {
			in := sound()
			in.Buckets[at] = n
			if _, err := check(in); !errors.Is(err, ErrHistogram) {
				t.Errorf("number %d is %d: %v", at, n, err)
			}
		}
	}
	last := buckets - pairs + 1
	in := sound()
	in.Buckets = append([]byte{byte(last&0x7f | 0x80), byte(last >> 7), 1}, in.Buckets[2:]...) // the last bucket there is
	in.Min, in.Max, in.Sum = low((last-1)>>subBits, (last-1)&(subs-1)), ^uint64(0), ^uint64(0)
	if _, err := check(in); err != nil {
		t.Errorf("the last buckets: %v", err)
	}
	in.Buckets[len(in.Buckets)-2] = 2 // one beyond
	if _, err := check(in); !errors.Is(err, ErrHistogram) {
		t.Errorf("a bucket beyond the last one: %v", err)
	}
}

// TestASumOfManyStaysAtTheLargestNumber: a bucket beyond 64 bits does not begin anew, also among four.
func TestASumOfManyStaysAtTheLargestNumber(t *testing.T) {
	const most = ^uint64(0)
	s := sparse{parts: fewParts, count: most - 1, sum: most, pairs: binary.AppendUvarint([]byte{3}, most-1)}
	in := message.Histogram{Count: 24, Sum: 24 * 5 / 2, Max: 5, Buckets: bytes.Repeat([]byte{1, 4}, 6)} // 0 to 5, four times each
	if err := s.merge(in, new([]byte)); err != nil {
		t.Fatal(err)
	}
	if got := s.wire(); s.count != most || s.many.octaves[0][2] != most || s.many.octaves[0][3] != 4 {
		t.Errorf("%d values, of them %d and %d in two buckets: %+v", s.count, s.many.octaves[0][2], s.many.octaves[0][3], got)
	}
}
