package swim

import (
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
				b.sent, b.unsent = b.sent[:0], b.unsent[:0]
				for i := range tried {
					p := b.pieces[i]
					if rapid.IntRange(0, 3).Draw(t, "fits") == 0 {
						b.unsent = append(b.unsent, p)
						continue
					}
					p.sends += times
					twin[i] = p
					b.sent = append(b.sent, p)
				}
				b.settle(tried)
			},
			"": func(t *rapid.T) {
				slices.SortFunc(twin, compare)
				if !slices.Equal(b.pieces, twin) {
					t.Fatalf("the buffer holds %v, want %v", b.pieces, twin)
				}
			},
		})
	})
}
