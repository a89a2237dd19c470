package units

import (
	"testing"

	"hyperscale/runtime/compare"
)

func TestBounds(t *testing.T) {
	for _, row := range []struct {
		change compare.Change
		want   string
	}{
		{compare.Change{Figure: "p99"}, "-"},
		{compare.Change{Figure: "p99", Tested: true, LowPPM: -321_000, HighPPM: 252_000}, "-32.1%..+25.2%"},
		{compare.Change{Figure: "p99", Tested: true, LowPPM: -321_000, HighPPM: compare.Boundless}, "at least -32.1%"},
		{compare.Change{Figure: "p99", Tested: true, LowPPM: 14_000_000, HighPPM: compare.Boundless}, "at least x15"},
		{compare.Change{Figure: "p99", Tested: true, LowPPM: -1_000_000, HighPPM: 252_000}, "at most +25.2%"},
		{compare.Change{Figure: "p99", Tested: true, LowPPM: -1_000_000, HighPPM: -12_300}, "at most -1.2%"},
		{compare.Change{Figure: ErrorsFigure, Tested: true, LowPPM: -1_000_000, HighPPM: 6_400}, "-100pt..+0.64pt"},
	} {
		if got := Bounds(&row.change); got != row.want {
			t.Errorf("%+v: got %q, want %q", row.change, got, row.want)
		}
	}
}
