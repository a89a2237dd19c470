package ui

import (
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ui/units"
)

// TestFewFailuresLookFew: one failed request in a hundred is a line at the bottom, in its own
// colour, and hides nothing above; half of them are half of the picture.
func TestFewFailuresLookFew(t *testing.T) {
	for _, test := range []struct {
		failed uint64
		want   [4]int // dots that failures have of the picture's rows, from above, of each column
	}{{0, [4]int{}}, {10, [4]int{0, 0, 0, 1}}, {500, [4]int{0, 1, 4, 4}}, {1000, [4]int{4, 4, 4, 4}}} {
		var points []Point
		for i := range 10 {
			points = append(points, Point{At: time.Duration(i+1) * time.Second, Took: time.Second, RateMilli: 1000, FailMilli: test.failed})
		}
		p := plot{style: Style{Color: true}, width: axisWidth + 2 + 10, height: 5, to: 10 * time.Second, unit: units.Compact, series: []series{
			{func(p Point) uint64 { return p.RateMilli }, accent, true}, {func(p Point) uint64 { return p.FailMilli }, bad, true},
		}}
		lines := p.draw(points)
		for row, want := range test.want {
			_, picture, _ := strings.Cut(lines[row], "┤")
			full := strings.Repeat(string([]rune("⠀⣀⣤⣶⣿")[want]), 10)
			if want == 0 {
				full = strings.Repeat("⣿", 10)
			}
			if !strings.Contains(picture, full) || strings.Contains(picture, "\x1b["+bad+"m") != (want > 0) {
				t.Errorf("%d of 1000 failed: row %d is %q, want %q, failures in it: %v", test.failed, row, picture, full, want > 0)
			}
		}
	}
}
