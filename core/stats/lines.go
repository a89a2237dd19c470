package stats

import (
	"slices"

	"hyperscale/core/message"
)

// Lines returns the lines that the system told, and those that users' programs wrote.
func Lines(s *message.Stats) (told, logged []string) {
	n := min(int(s.Told), len(s.Logs)) // a peer that does not know Told keeps it as it was
	return s.Logs[:n], s.Logs[n:]
}

// SetLines replaces both. Each has room of its own: a program that logs without end leaves the system's lines.
func SetLines(s *message.Stats, told, logged []string) {
	told, logged = told[:min(len(told), LogsMax)], logged[:min(len(logged), LogsMax)]
	s.Logs, s.Told = nil, uint32(len(told))
	if len(told)+len(logged) > 0 {
		s.Logs = slices.Concat(told, logged)
	}
}

// addLogs adds the lines of one part. Each executor tells some of the same: those count once.
func addLogs(total, p *message.Stats) {
	if len(p.Logs) == 0 {
		return
	}
	told, logged := Lines(total)
	more, others := Lines(p)
	all := slices.Clip(told)
	for _, line := range more {
		if !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	SetLines(total, all, slices.Concat(logged, others))
}
