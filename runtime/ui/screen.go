package ui

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"hyperscale/core/message"
)

// Screen draws the whole live screen: at most height lines of at most s.Width columns.
func Screen(m *Model, s Style, height int) string {
	top := append(m.header(s), "")
	table := m.stepTable(s)
	failures := m.failureLines(s, 5)
	foot := []string{s.paint(faint, fit(" ctrl-c stops the job and prints the summary", s.Width))}
	rest := height - len(top) - len(foot) - 1
	table = table[:min(len(table), max(rest, 0))]
	rest -= len(table) + 1
	failures = failures[:min(len(failures), max(rest, 0))]
	rest -= len(failures)
	lines := top
	if picture := min(rest-2, 12); picture >= 3 && s.Width >= 40 && m.answered() {
		title := " latency  " + s.paint(accent, "p50") + "  " + s.paint(warn, "p99")
		lines = append(lines, title)
		lines = append(lines, plot{s, s.Width - axisWidth - 3, picture, m.expected()}.draw(m.Points)...)
		lines = append(lines, "")
	}
	lines = append(lines, table...)
	if len(failures) > 0 {
		lines = append(lines, "")
		lines = append(lines, failures...)
	}
	lines = append(lines, "")
	lines = append(lines, foot...)
	return strings.Join(lines[:min(len(lines), max(height, 1))], "\n")
}

// header is the name, the state, the bar and the figures of now.
func (m *Model) header(s Style) []string {
	state := m.State.String()
	if m.State == message.JobNone {
		state = "STARTING"
	}
	name := fit(Clean(m.Name), max(s.Width-len(state)-16, 8))
	title := " " + s.paint(bold, "hyperscale") + "  " + name
	pad := max(s.Width-1-utf8.RuneCountInString(" hyperscale  "+name)-len(state), 1)
	lines := []string{title + strings.Repeat(" ", pad) + s.paint(stateColour(m.State), state), m.bar(s)}
	if waiting := m.waiting(); waiting != "" && m.State < message.JobRunning {
		return append(lines, "", " "+s.paint(warn, fit(waiting, s.Width-2)))
	}
	started, ok, failed := m.Sums()
	if len(m.Points) == 0 {
		return append(lines, "", fit(fmt.Sprintf(" %s VUs   %s started", Count(m.Active()), Count(started)), s.Width))
	}
	now := m.Now()
	figures := fmt.Sprintf(" %s/s   p50 %s   p99 %s   %s VUs   %s started   %s ok", Milli(now.RateMilli), latencyOr(now.P50), latencyOr(now.P99), Count(m.Active()), Count(started), Share(ok, ok+failed))
	lines = append(lines, "", fit(figures, s.Width))
	if arrivals := m.arrivals("   "); arrivals != "" {
		lines = append(lines, fit(arrivals[2:], s.Width))
	}
	return lines
}

// expected is how many points the whole run will have.
func (m *Model) expected() int {
	_, planned := m.Progress()
	return int(planned / sampleEvery)
}

func stateColour(s message.JobState) string {
	switch s {
	case message.JobRunning, message.JobCompleting, message.JobCompleted:
		return good
	case message.JobFailed, message.JobTimedOut:
		return bad
	}
	return warn
}

// bar shows how much of the plan is done; without a planned time it tells the time.
func (m *Model) bar(s Style) string {
	done, planned := m.Progress()
	if planned == 0 {
		return s.paint(faint, " "+Duration(m.Elapsed))
	}
	tail := fmt.Sprintf("  %s of %s", Duration(done), Duration(planned))
	width := max(s.Width-2-len(tail), 10)
	full := int(int64(width) * int64(done/time.Millisecond) / max(int64(planned/time.Millisecond), 1))
	return " " + s.paint(accent, strings.Repeat("━", full)) + s.paint(faint, strings.Repeat("─", width-full)) + tail
}

func (m *Model) stepTable(s Style) []string {
	t := &table{style: s, indent: 1, head: []string{"step", "rate/s", "started", "ok", "failed", "p50", "p99"}}
	for _, f := range m.flows {
		for _, step := range f.steps {
			name := Clean(step.name)
			if len(m.flows) > 1 {
				name = Clean(f.name) + "." + name
			}
			t.rows = append(t.rows, []cell{
				plain(name), plain(Milli(step.rateMilli)), plain(Count(step.started)), plain(Count(step.ok)),
				alarm(step.failed, bad), plain(latencyOr(step.p50)), plain(latencyOr(step.p99)),
			})
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t.draw()
}

func (m *Model) failureLines(s Style, most int) []string {
	var lines []string
	for i, f := range m.failures() {
		if i == most {
			break
		}
		text := fmt.Sprintf(" %s  %s  %s", right(Count(f.Count), 9), Clean(f.step), Clean(f.Kind))
		if f.Example != "" && f.Example != f.Kind {
			text += ": " + Clean(f.Example)
		}
		lines = append(lines, s.paint(bad, fit(text, s.Width)))
	}
	return lines
}
