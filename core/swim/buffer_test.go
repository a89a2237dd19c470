package swim

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// For any letters, tries and removals, the pieces are in the order of a model that sorts all of
// them each time.
func TestLettersLeaveTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b buffer
		var twin []piece
		t.Repeat(map[string]func(*rapid.T){
			"tell": func(t *rapid.T) {
				b.births++
				p := piece{
					place: uint32(b.births), class: class(rapid.IntRange(0, int(classDead)).Draw(t, "class")),
					sends: uint16(rapid.IntRange(0, 9).Draw(t, "sends")), born: b.births,
				}
				b.put(p)
				twin = append(twin, p)
			},
			"forget": func(t *rapid.T) {
				if len(twin) == 0 {
					t.Skip("there is nothing")
				}
				p := b.take(b.find(rapid.SampledFrom(twin).Draw(t, "piece").place))
				twin = slices.DeleteFunc(twin, func(o piece) bool { return o == p })
			},
			"letter": func(t *rapid.T) {
				times := uint16(rapid.IntRange(1, 3).Draw(t, "times"))
				tried := rapid.IntRange(0, len(twin)).Draw(t, "tried")
				b.sent, b.spots = b.sent[:0], b.spots[:0]
				for i := range tried {
					at := len(b.pieces) - 1 - i
					p := b.pieces[at]
					if rapid.IntRange(0, 3).Draw(t, "fits") == 0 {
						continue
					}
					p.sends += times
					twin[i] = p
					b.sent, b.spots = append(b.sent, p), append(b.spots, at)
				}
				b.settle()
			},
			"drop": func(t *rapid.T) {
				if len(twin) == 0 {
					t.Skip("there is nothing")
				}
				want := slices.MaxFunc(twin, func(p, q piece) int { return cmp.Or(cmp.Compare(p.sends, q.sends), compare(p, q)) })
				if got := b.take(b.known()); got != want {
					t.Fatalf("a full buffer drops %v, want %v", got, want)
				}
				twin = slices.DeleteFunc(twin, func(o piece) bool { return o == want })
			},
			"": func(t *rapid.T) {
				slices.SortFunc(twin, compare)
				ordered := slices.Clone(b.pieces)
				slices.Reverse(ordered)
				if !slices.Equal(ordered, twin) {
					t.Fatalf("the buffer holds %v, want %v", ordered, twin)
				}
			},
		})
	})
}
