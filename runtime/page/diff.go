package page

import (
	"strings"

	"hyperscale/runtime/ui/units"
)

// diffLine is one line of what differs between two texts.
type diffLine struct{ Class, Text string }

// The sorts of lines: each is a class of page.css, and has a sign.
const (
	added   = "added"
	removed = "removed"
	skipped = "skipped"
)

const (
	untouched = 3       // lines that stay, before and after each that does not
	cellsMax  = 1 << 20 // of the table of common lines: for larger texts the page shows one after the other
)

// diff computes the line changes between two texts, by their longest common subsequence.
func diff(before, after string) []diffLine {
	a, b := lines(before), lines(after)
	var head, tail []diffLine
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, diffLine{Text: "  " + a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, diffLine{Text: "  " + a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out := append(head, between(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return folded(out)
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// between is of texts that begin and end differently.
func between(a, b []string) (out []diffLine) {
	wide := len(b) + 1
	if (len(a)+1)*wide <= cellsMax {
		common := make([]uint16, (len(a)+1)*wide) // how many lines a[i:] and b[k:] have in common
		for i := len(a) - 1; i >= 0; i-- {
			for k := len(b) - 1; k >= 0; k-- {
				common[i*wide+k] = max(common[(i+1)*wide+k], common[i*wide+k+1])
				if a[i] == b[k] {
					common[i*wide+k] = common[(i+1)*wide+k+1] + 1
				}
			}
		}
		for i, k := 0, 0; len(a) > 0 && len(b) > 0; {
			switch {
			case a[0] == b[0]:
				out = append(out, diffLine{Text: "  " + a[0]})
				a, b, i, k = a[1:], b[1:], i+1, k+1
			case common[(i+1)*wide+k] >= common[i*wide+k+1]:
				out = append(out, diffLine{removed, "- " + a[0]})
				a, i = a[1:], i+1
			default:
				out = append(out, diffLine{added, "+ " + b[0]})
				b, k = b[1:], k+1
			}
		}
	}
	for _, line := range a {
		out = append(out, diffLine{removed, "- " + line})
	}
	for _, line := range b {
		out = append(out, diffLine{added, "+ " + line})
	}
	return out
}

// folded leaves out lines that stay and are far from those that do not.
func folded(all []diffLine) (out []diffLine) {
	near := make([]bool, len(all))
	for i := range all {
		if all[i].Class != "" {
			for k := max(i-untouched, 0); k < min(i+untouched+1, len(all)); k++ {
				near[k] = true
			}
		}
	}
	for i := 0; i < len(all); i++ {
		if near[i] {
			out = append(out, all[i])
			continue
		}
		from := i
		for i+1 < len(all) && !near[i+1] {
			i++
		}
		out = append(out, diffLine{skipped, "… " + units.Counted(uint64(i+1-from), "line") + " the same"})
	}
	return out
}
