package ui

import (
	"fmt"
	"strings"
)

// Line tells where a job stands in one line, for logs of machines.
func Line(m *Model) string {
	head := fmt.Sprintf("%7s  %-11s", Duration(m.Elapsed), m.State)
	if waiting := m.waiting(); waiting != "" {
		return head + "  " + waiting
	}
	started, _, failed := m.Sums()
	if started == 0 {
		return strings.TrimRight(head, " ")
	}
	if len(m.Points) == 0 {
		return fmt.Sprintf("%s  %s VUs  %s started  %s failed", head, Count(m.Active()), Count(started), Count(failed))
	}
	now := m.Now()
	return fmt.Sprintf("%s  %s VUs  %s/s  p50 %s  p99 %s  %s started  %s failed",
		head, Count(m.Active()), Milli(now.RateMilli), latencyOr(now.P50), latencyOr(now.P99), Count(started), Count(failed))
}
