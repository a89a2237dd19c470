package setting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// DidYouMean proposes the nearest of names, or nothing.
func DidYouMean(got string, names []string) string {
	if len(names) == 0 || len(got) > 64 {
		return ""
	}
	far := func(name string) int {
		if len(got) > 1 && strings.HasPrefix(name, got) {
			return 0 // cut short
		}
		return distance(got, name)
	}
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a, b)) })
	if far(best) > max(1, len(got)/3) {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// distance is how many letters to change, add, drop, or swap with their neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
