package ui

import (
	"fmt"
	"strings"

	"hyperscale/runtime/ui/units"
)

// Line describes a job's state in one line, for logs.
func Line(m *Model) string {
	head := fmt.Sprintf("%7s  %-11s", units.Duration(m.Elapsed), m.State)
	if waiting := m.waiting(); waiting != "" {
		return head + "  " + waiting
	}
	started, _, failed := m.Sums()
	if started == 0 {
		return strings.TrimRight(head, " ")
	}
	n, word := m.begun()
	if len(m.Points) == 0 {
		return fmt.Sprintf("%s  %s  %s %s  %s failed", head, units.Counted(m.Active(), "VU"), units.Count(n), word, units.Count(failed))
	}
	now := m.Now()
	return fmt.Sprintf("%s  %s  %s/s  p50 %s  p99 %s  %s %s  %s failed%s",
		head, units.Counted(m.Active(), "VU"), units.Milli(now.RateMilli), units.LatencyOr(now.P50), units.LatencyOr(now.P99), units.Count(n), word, units.Count(failed), m.arrivals("  "))
}

// arrivals compares requested arrivals with the iterations of the last sample: how many began,
// waited, and were dropped.
func (m *Model) arrivals(gap string) string {
	var asked, begun, late, dropped uint64
	open := false
	for _, f := range m.flows {
		if !f.open && f.now.Generator.Dropped+f.now.Generator.Waited == 0 {
			continue // its users ask for nothing: they begin when they are done
		}
		open = true
		asked, begun = asked+f.pace.askedMilli, begun+f.pace.begunMilli
		late, dropped = late+f.now.Generator.Waited, dropped+f.now.Generator.Dropped
	}
	if !open {
		return ""
	}
	text := fmt.Sprintf("%s%s/s asked%s%s/s begun", gap, units.Milli(asked), gap, units.Milli(begun))
	if late > 0 {
		text += gap + units.Count(late) + " late"
	}
	if dropped > 0 {
		text += gap + units.Count(dropped) + " dropped"
	}
	return text
}
