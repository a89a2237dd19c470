package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A queue is a slice whose elements are appended, and taken from its front.
func TestQueueIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[int]
		var model []int
		for i, pushes := range rapid.SliceOf(rapid.Bool()).Draw(t, "pushes") {
			if pushes {
				q.Push(i)
				model = append(model, i)
			} else if len(model) > 0 {
				if first, got := q.First(), q.Pop(); first != got || got != model[0] {
					t.Fatalf("first %d, popped %d, want %d", first, got, model[0])
				}
				model = model[1:]
			}
			if q.Len() != len(model) {
				t.Fatalf("it has %d elements, want %d", q.Len(), len(model))
			}
		}
		var left []int
		for q.Len() > 0 {
			left = append(left, q.Pop())
		}
		if diff := cmp.Diff(model, left); len(model)+len(left) > 0 && diff != "" {
			t.Fatalf("what is left (-want +got):\n%s", diff)
		}
	})
}
