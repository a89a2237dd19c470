package ui

import (
	"fmt"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/ui/cells"
	"hyperscale/runtime/ui/units"
)

// The tabs, in the order of their keys.
const (
	tabOverview = iota
	tabSteps
	tabErrors
	tabThresholds
	tabGenerator
	tabPlaces
)

var tabNames = [...]string{"overview", "steps", "errors", "thresholds", "generator", "places"}

// Below these a screen is lines alone.
const (
	narrow = 72
	flat   = 16
)

// View is what a person has chosen to see.
type View struct {
	Tab    int
	Scroll int  // rows that are above the screen
	Recent bool // plots of the newest part alone
	Help   bool
	Leaves bool          // an interrupt leaves the job running
	Ahead  time.Duration // since the newest status: the clock runs without news
	Note   string        // a short message
	Page   string        // URL of the live page; empty: there is none
}

// Screen draws the whole live screen: at most height lines of at most s.Width columns.
func Screen(m *Model, s Style, v View, height int) string {
	lines, _ := draw(m, s, v, height)
	return strings.Join(lines, "\n")
}

// draw returns the lines, and how far they can be scrolled.
func draw(m *Model, s Style, v View, height int) (lines []string, most int) {
	if s.Width < narrow || height < flat {
		text, room := v.page(), height
		if text != "" && height > 1 {
			room--
		}
		lines = m.lines(s, v, room)
		if text != "" && len(lines) < height {
			lines = append(lines, s.paint(faint, cells.Fit(text[1:], s.Width)))
		}
	} else {
		lines, most = m.frame(s, v, height)
	}
	lines = lines[:min(len(lines), max(height, 1))]
	for i := range lines {
		if s.ASCII {
			lines[i] = cells.ASCII(lines[i])
		}
		lines[i] = cells.Clip(strings.TrimRight(lines[i], " "), max(s.Width, 1))
	}
	return lines, most
}

// frame is the head, the body of the tab and the foot.
func (m *Model) frame(s Style, v View, height int) (lines []string, most int) {
	lines = append(m.header(s, v), tabLine(s, v), s.paint(faint, cells.Fit(v.page(), s.Width)))
	room := height - len(lines) - 2
	b := &body{m: m, s: s, v: v, room: room}
	switch {
	case v.Help:
		b.help()
	case m.waiting() != "" && m.State < message.JobRunning:
		b.pin(" " + s.paint(warn, cells.Fit(m.waiting(), s.Width-2)))
	default:
		b.tab()
	}
	shown, position, most := b.fold()
	lines = append(lines, shown...)
	lines = append(lines, make([]string, max(0, height-1-len(lines)))...)
	return append(lines, foot(s, v, position)), most
}

// header is the name, the state and the bar.
func (m *Model) header(s Style, v View) []string {
	state := m.stateName()
	name := cells.Fit(units.Clean(m.Name), s.Width-len(state)-len(" hyperscale    ")-1)
	pad := s.Width - len(" hyperscale  ") - cells.Columns(name) - len(state) - 1
	return []string{" " + s.paint(bold, "hyperscale") + "  " + name + cells.Blanks(pad) + s.paint(stateColour(m.State), state), m.bar(s, v)}
}

func (m *Model) stateName() string {
	if m.State == message.JobNone {
		return "STARTING"
	}
	return m.State.String()
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

// bar shows the completed part of the plan, or the time if the plan has none.
func (m *Model) bar(s Style, v View) string {
	done, planned := m.at(v)
	if planned == 0 {
		return s.paint(faint, " "+units.Duration(done)+" since it was accepted")
	}
	tail := fmt.Sprintf("  %s of %s", units.Duration(done), units.Duration(planned))
	width := max(s.Width-2-len(tail), 10)
	full := int(int64(width) * int64(done/time.Millisecond) / max(int64(planned/time.Millisecond), 1))
	return " " + s.paint(accent, strings.Repeat("━", full)) + s.paint(faint, strings.Repeat("─", width-full)) + tail
}

// at is the time that the screen's clock shows: of the planned time, or of the job if the plan
// has none.
func (m *Model) at(v View) (at, planned time.Duration) {
	at, planned = m.Progress()
	if planned == 0 {
		at = m.Elapsed
	}
	if m.State != message.JobRunning {
		return at, planned
	}
	if at += v.Ahead; planned > 0 {
		at = min(at, planned)
	}
	return at, planned
}

// tabLine names the tabs; the chosen one stands out with colours and without.
func tabLine(s Style, v View) string {
	var b strings.Builder
	for i, name := range tabNames {
		text := fmt.Sprintf("%d %s", i+1, name)
		if i == v.Tab && !v.Help {
			b.WriteString(s.paint(chosen, "["+text+"]"))
			continue
		}
		b.WriteString(s.paint(faint, " "+text+" "))
	}
	return b.String()
}

// page is where a browser shows the job; empty: nowhere.
func (v View) page() string {
	if v.Page == "" {
		return ""
	}
	return " live page: " + units.Clean(v.Page)
}

// foot is the note, or the keys, and the position of the rows.
func foot(s Style, v View, position string) string {
	text, colour := " ←→ tabs  ↑↓ scroll  w recent/whole  ? help  "+v.leave(), faint
	if v.Note != "" {
		text, colour = " "+units.Clean(v.Note), warn
	}
	text = cells.Fit(text, s.Width-cells.Columns(position)-2)
	return s.paint(colour, text) + cells.Blanks(s.Width-1-cells.Columns(text)-cells.Columns(position)) + s.paint(faint, position)
}

// leave says what closing the screen does to the job.
func (v View) leave() string {
	if v.Leaves {
		return "q leaves, the job goes on"
	}
	return "q stops the job"
}

// lines are the lines that a small screen shows.
func (m *Model) lines(s Style, v View, height int) []string {
	done, planned := m.at(v)
	clock := units.Duration(done)
	if planned > 0 {
		clock += " of " + units.Duration(planned)
	}
	all := []string{cells.Fit(units.Clean(m.Name), s.Width), s.paint(stateColour(m.State), m.stateName()) + "  " + clock}
	if v.Note != "" {
		all = append(all, s.paint(warn, cells.Fit(units.Clean(v.Note), s.Width)))
	}
	if waiting := m.waiting(); waiting != "" {
		return append(all, cells.Fit(waiting, s.Width))
	}
	now, colour := m.Now(), ""
	_, ok, failed := m.Sums()
	if failed > 0 {
		colour = bad
	}
	n, word := m.begun()
	all = append(all,
		fmt.Sprintf("%s/s  p50 %s  p99 %s", s.paint(bold, units.Milli(now.RateMilli)), units.LatencyOr(now.P50), units.LatencyOr(now.P99)),
		fmt.Sprintf("%s  %s  %s", s.paint(colour, units.Share(failed, ok+failed)+" errors"), units.Count(n)+" "+word, units.Counted(m.Active(), "VU")))
	if text := m.arrivals("  "); text != "" {
		all = append(all, cells.Fit(strings.TrimLeft(text, " "), s.Width))
	}
	for _, line := range wrapped(m.waitersLine(), max(s.Width, 20)) {
		all = append(all, s.paint(warn, cells.Fit(line, s.Width)))
	}
	for _, f := range m.failures() {
		if len(all) >= height {
			break
		}
		all = append(all, s.paint(bad, cells.Fit(units.Count(f.Count)+"  "+f.text(), s.Width)))
	}
	return all
}
