package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
)

// Bounds of a drawn order: a result has one of each workflow.
const (
	orderMax   = 1 << 10 // bytes of all its lines
	reducedMax = 200     // steps of a graph of which implied links are left out
	runMax     = 5       // neighbours of a plain sequence, before those in the middle are counted
)

// Order draws in which order steps begin: a sequence in one line, a graph in a line for each chain.
// Nil: they are a plain list. Steps between + begin together, and one of those with shares runs.
func Order(steps []message.StepPlan) []string {
	groups := Sequence(steps)
	if groups == nil {
		return bounded(drawn(len(steps), func(i int) string { return shared(steps, uint32(i)) }, func(i int) []link {
			return links(slices.Concat(steps[i].After, steps[i].Behind), nil)
		}))
	}
	if !slices.ContainsFunc(groups, func(group []uint32) bool { return len(group) > 1 }) {
		return nil
	}
	var parts []string
	for i := 0; i < len(groups); i++ {
		parts = append(parts, element(steps, groups[i]))
		run := i
		for run < len(groups) && len(groups[run]) == 1 {
			run++
		}
		if hidden := run - i - 2; hidden > runMax-2 {
			parts = append(parts, fmt.Sprintf("(%d steps)", hidden))
			i = run - 2
		}
	}
	return bounded([]string{strings.Join(parts, " → ")})
}

// Turns draws in which order workflows begin; nil: all begin at once. Behind a ⇢ one begins
// whatever became of the one before.
func Turns(all []message.WorkflowPlan) []string {
	if !slices.ContainsFunc(all, func(w message.WorkflowPlan) bool {
		return len(w.Depends)+len(w.StartAfter) > 0 || w.StartDelay > 0
	}) {
		return nil
	}
	return bounded(drawn(len(all), func(i int) string {
		if all[i].StartDelay == 0 {
			return all[i].Name
		}
		return fmt.Sprintf("%s (%s later)", all[i].Name, all[i].StartDelay.Round(time.Millisecond))
	}, func(i int) []link { return links(all[i].Depends, all[i].StartAfter) }))
}

// link leads from an earlier one; loose: whatever became of it.
type link struct {
	from  uint32
	loose bool
}

func links(after, loose []uint32) (all []link) {
	for _, k := range after {
		all = append(all, link{k, false})
	}
	for _, k := range loose {
		if !slices.Contains(after, k) {
			all = append(all, link{k, true})
		}
	}
	slices.SortFunc(all, func(a, b link) int { return int(a.from) - int(b.from) })
	return all
}

// drawn draws a graph whose links lead forward: each chain of those that have one before them, and
// are the only one behind it, is a line. A line begins with what its first waits for.
func drawn(n int, name func(int) string, all func(int) []link) (lines []string) {
	before, behind := needed(n, all), make([][]int, n)
	for i := range n {
		for _, l := range before[i] {
			behind[l.from] = append(behind[l.from], i)
		}
	}
	// joined says that i is in the line of the one before it; opens, that lines of others begin with it.
	joined := func(i int) bool { l := before[i]; return len(l) == 1 && len(behind[l[0].from]) == 1 }
	opens := func(i int) bool { return len(behind[i]) > 0 && !joined(behind[i][0]) }
	for i := range n {
		if joined(i) || len(before[i]) == 0 && opens(i) {
			continue
		}
		var line strings.Builder
		var strict, loose []string
		for _, l := range before[i] {
			if l.loose {
				loose = append(loose, name(int(l.from)))
			} else {
				strict = append(strict, name(int(l.from)))
			}
		}
		line.WriteString(name(i))
		for at := i; len(behind[at]) == 1 && joined(behind[at][0]); {
			next := behind[at][0]
			line.WriteString(arrow(before[next][0].loose) + name(next))
			at = next
		}
		text := line.String()
		if len(strict) > 0 {
			text = strings.Join(strict, " + ") + arrow(false) + text
		}
		if len(loose) > 0 && len(strict) > 0 {
			lines = append(lines, strings.Join(loose, " + ")+arrow(true)+name(i))
		} else if len(loose) > 0 {
			text = strings.Join(loose, " + ") + arrow(true) + text
		}
		lines = append(lines, text)
	}
	return lines
}

// needed leaves out links that others imply: one to c behind b, if b is behind it.
func needed(n int, all func(int) []link) [][]link {
	out, earlier := make([][]link, n), make([][]bool, n) // earlier[i][k]: i is behind k
	for i := range n {
		links := all(i)
		earlier[i] = make([]bool, i)
		if n > reducedMax {
			out[i] = links
			continue
		}
		for _, l := range links {
			for k, is := range earlier[l.from] {
				earlier[i][k] = earlier[i][k] || is
			}
		}
		out[i] = slices.DeleteFunc(links, func(l link) bool { return earlier[i][l.from] })
		for _, l := range out[i] {
			earlier[i][l.from] = true
		}
	}
	return out
}

func arrow(loose bool) string {
	if loose {
		return " ⇢ "
	}
	return " → "
}

// element names the steps of a sequence that begin together, or of which an iteration takes one.
func element(steps []message.StepPlan, group []uint32) string {
	var together, one []string
	for _, i := range group {
		if steps[i].Weight > 0 {
			one = append(one, shared(steps, i))
		} else {
			together = append(together, steps[i].Name)
		}
	}
	if len(one) > 0 {
		together = append(together, "one of "+strings.Join(one, ", "))
	}
	if len(group) == 1 {
		return together[0]
	}
	return "(" + strings.Join(together, " + ") + ")"
}

// shared is a step's name, with its share of the iterations if it has a weight.
func shared(steps []message.StepPlan, i uint32) string {
	if steps[i].Weight == 0 {
		return steps[i].Name
	}
	var all uint64
	for k := range steps {
		all += uint64(steps[k].Weight)
	}
	return fmt.Sprintf("%s %d%%", steps[i].Name, (uint64(steps[i].Weight)*100+all/2)/all)
}

// bounded cuts what a result has no room for.
func bounded(lines []string) []string {
	left := orderMax
	for i, line := range lines {
		if left -= len(line); left >= 0 {
			continue
		}
		if i == 0 {
			return []string{strings.ToValidUTF8(line[:orderMax], "") + "..."}
		}
		return append(lines[:i:i], fmt.Sprintf("and %d lines more", len(lines)-i))
	}
	return lines
}
