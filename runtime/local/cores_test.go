package local

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPhysicalCores(t *testing.T) {
	for _, row := range []struct {
		what     string
		siblings map[int]string
		usable   []int
		want     []int
	}{
		{"two threads a core, numbered apart", map[int]string{0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3"}, []int{0, 1, 2, 3}, []int{0, 1}},
		{"two threads a core, side by side", map[int]string{0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}, []int{0, 1, 2, 3}, []int{0, 2}},
		{"only the second threads may be used", map[int]string{2: "0,2", 3: "1,3"}, []int{2, 3}, []int{2, 3}},
		{"no topology is told", nil, []int{0, 1, 5}, []int{0, 1, 5}},
	} {
		got := physical(row.usable, func(cpu int) string { return row.siblings[cpu] })
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.what, diff)
		}
	}
}
