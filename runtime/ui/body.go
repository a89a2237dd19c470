package ui

import (
	"fmt"
	"strings"

	"hyperscale/runtime/ui/cells"
	"hyperscale/runtime/ui/units"
)

// body collects the part between head and foot: fixed lines, and rows below them that scroll.
type body struct {
	m      *Model
	s      Style
	v      View
	room   int
	pinned []string
	rows   []string
	tail   []string // stays, below the rows
}

func (b *body) pin(lines ...string) { b.pinned = append(b.pinned, lines...) }

// title begins a section.
func (b *body) title(text string) string { return " " + b.s.paint(bold, text) }

// say adds a row of plain text, in the colour.
func (b *body) say(colour, text string) {
	b.rows = append(b.rows, " "+b.s.paint(colour, cells.Fit(text, b.s.Width-2)))
}

// tell adds rows of plain text, broken between words.
func (b *body) tell(colour, text string) {
	for _, line := range wrapped(text, b.s.Width-2) {
		b.say(colour, line)
	}
}

// grid pins a table's head and scrolls its rows.
func (b *body) grid(t *table) {
	lines := t.draw()
	b.pin(lines[0])
	b.rows = append(b.rows, lines[1:]...)
}

// fold cuts the rows to the room. It returns the visible lines, the position, and how far the
// rows can scroll.
func (b *body) fold() (lines []string, position string, most int) {
	b.pinned = b.pinned[:min(len(b.pinned), max(b.room, 0))]
	room := max(0, b.room-len(b.pinned)-len(b.tail))
	most = max(0, len(b.rows)-room)
	from := min(max(b.v.Scroll, 0), most)
	shown := b.rows[from:min(len(b.rows), from+room)]
	if most > 0 && room > 0 {
		position = fmt.Sprintf("%d-%d of %d", from+1, from+len(shown), len(b.rows))
	}
	lines = append(append(b.pinned, shown...), b.tail...)
	return lines, position, most
}

// tab draws the one that was chosen.
func (b *body) tab() {
	switch b.v.Tab {
	case tabSteps:
		b.steps()
	case tabErrors:
		b.errors()
	case tabThresholds:
		b.thresholds()
	case tabGenerator:
		b.generator()
	case tabPlaces:
		b.places()
	default:
		b.overview()
	}
}

// overview is all that matters at a glance: figures, plots, steps, failures, verdicts.
func (b *body) overview() {
	b.tiles()
	kinds := b.m.failures()
	most := 2
	if b.room > 24 {
		most = min(b.room/8, 8)
	}
	kinds = kinds[:min(len(kinds), most)]
	if len(kinds) > 0 {
		b.tail = append(b.tail, "")
		for _, f := range kinds {
			b.tail = append(b.tail, b.s.paint(bad, cells.Fit(fmt.Sprintf(" %s  %s", cells.Right(units.Count(f.Count), 9), f.text()), b.s.Width-1)))
		}
	}
	standing := b.standing()
	if len(kinds) > 0 && len(standing) > 0 && b.room < 20 {
		standing = standing[1:] // a row more for steps, instead of an empty one
	}
	b.tail = append(b.tail, standing...)
	t := b.m.stepTable(b.s, false)
	rest := b.room - len(b.pinned) - len(b.tail)
	picture := min(max(rest-len(t.rows)-2, 6), max(rest*3/5, 6), 26)
	if rest-picture >= 4 && len(b.m.Points) > 0 {
		b.plots(picture)
		b.pin("")
	}
	if len(t.rows) > 0 {
		b.grid(t)
	}
}

// tiles are the figures of now, each below its name.
func (b *body) tiles() {
	now := b.m.Now()
	_, ok, failed := b.m.Sums()
	n, word := b.m.begun()
	trouble := bold
	if failed > 0 {
		trouble = bad
	}
	tiles := []struct{ name, value, colour string }{
		{"rate/s", units.Milli(now.RateMilli), accent}, {"p50", units.LatencyOr(now.P50), bold}, {"p95", units.LatencyOr(now.P95), bold}, {"p99", units.LatencyOr(now.P99), bold},
		{"errors", units.Share(failed, ok+failed), trouble}, {word, units.Count(n), bold}, {"VUs", units.Count(b.m.Active()), bold},
	}
	width := min((b.s.Width-2)/len(tiles), 16)
	var names, values strings.Builder
	for _, t := range tiles {
		names.WriteString(cells.Right(t.name, width))
		values.WriteString(cells.Blanks(width-cells.Columns(t.value)) + b.s.paint(t.colour, t.value))
	}
	b.pin(b.s.paint(faint, names.String()), values.String())
	if arrivals := b.m.arrivals("   "); arrivals != "" {
		colour := ""
		if strings.HasSuffix(arrivals, "dropped") {
			colour = warn
		}
		b.pin(" " + b.s.paint(colour, cells.Fit(strings.TrimSpace(arrivals), b.s.Width-2)))
	}
	for _, line := range wrapped(b.m.waitersLine(), b.s.Width-2) {
		b.pin(" " + b.s.paint(warn, cells.Fit(line, b.s.Width-2)))
	}
	b.pin("")
}

// plots stand side by side: rate, of it what failed, and latency.
func (b *body) plots(height int) {
	from, to := b.m.span(b.v.Recent, b.s.Width)
	width := (b.s.Width - 3) / 2
	rate := plot{style: b.s, width: width, height: height - 1, from: from, to: to, unit: units.Compact, series: []series{
		{func(p Point) uint64 { return p.RateMilli }, accent, true}, {func(p Point) uint64 { return p.FailMilli }, bad, true},
	}}
	latency := plot{style: b.s, width: width, height: height - 1, from: from, to: to, unit: units.Latency, series: []series{
		{func(p Point) uint64 { return p.P50 }, faint, false}, {func(p Point) uint64 { return p.P95 }, "", false}, {func(p Point) uint64 { return p.P99 }, accent, false},
	}}
	s := b.s
	rates := []string{b.title("rate/s") + s.paint(faint, "  ended, ") + s.paint(bad, "failed")}
	times := []string{b.title("latency") + "  " + s.paint(faint, "p50") + "  p95  " + s.paint(accent, "p99")}
	rates, times = append(rates, rate.draw(b.m.Points)...), append(times, latency.draw(b.m.Points)...)
	b.beside(rates, times, width)
}

// beside pins two plots side by side.
func (b *body) beside(left, right []string, width int) {
	for i := range left {
		b.pin(left[i] + cells.Blanks(width+1-cells.Visible(left[i])) + right[i])
	}
}

// load draws users and iterations. Users that go round begin as many iterations as the target lets
// them, and those of a rate as many as are due: the two kinds are never added up.
func (b *body) load(height int) {
	closed, open := false, false
	for _, f := range b.m.flows {
		closed, open = closed || !f.open, open || f.open
	}
	from, to := b.m.span(b.v.Recent, b.s.Width)
	width := (b.s.Width - 3) / 2
	users := plot{style: b.s, width: width, height: height - 1, from: from, to: to, unit: units.Count}
	iterations := plot{style: b.s, width: width, height: height - 1, from: from, to: to, unit: units.Compact}
	s := b.s
	heads := []string{b.title("active VUs"), b.title("iterations/s")}
	name := func(at int, word, colour string) { heads[at] += "  " + s.paint(colour, word) }
	if open {
		iterations.series = append(iterations.series, series{func(p Point) uint64 { return p.Open.AskedMilli }, faint, false})
		name(1, "asked", faint)
	}
	for _, kind := range []struct {
		drawn, of bool
		word      string
		colour    string
	}{{closed, false, "closed", accent}, {open, true, "open", warn}} {
		if !kind.drawn {
			continue
		}
		users.series = append(users.series, series{func(p Point) uint64 { return p.of(kind.of).Users }, kind.colour, false})
		iterations.series = append(iterations.series, series{func(p Point) uint64 { return p.of(kind.of).BegunMilli }, kind.colour, false})
		if closed && open {
			name(0, kind.word, kind.colour)
		}
		if open {
			name(1, map[bool]string{false: "begun", true: kind.word}[closed], kind.colour)
		}
	}
	left, right := append(heads[:1:1], users.draw(b.m.Points)...), append(heads[1:2:2], iterations.draw(b.m.Points)...)
	b.beside(left, right, width)
}

// standing shows thresholds and generator in one line, or in two if there is room.
func (b *body) standing() []string {
	tight := b.room < 26
	verdict, generator := b.verdictLine(false), b.generatorLine()
	if verdict != "" && generator != "" && !tight {
		return []string{"", " " + verdict, " " + generator}
	}
	if tight && cells.Visible(verdict)+cells.Visible(generator)+5 > b.s.Width {
		verdict = b.verdictLine(true)
	}
	switch {
	case verdict == "" && generator == "":
		return nil
	case verdict == "" || generator == "":
		return []string{"", " " + verdict + generator}
	}
	return []string{"", " " + verdict + "   " + generator}
}

func (b *body) verdictLine(short bool) string {
	all, broken := b.m.verdicts()
	if len(all) == 0 {
		return ""
	}
	text := b.s.paint(faint, "thresholds") + "  "
	if broken == 0 {
		return text + b.s.paint(good, "✓") + fmt.Sprintf(" %d of %d hold", len(all), len(all))
	}
	text += b.s.paint(bad, fmt.Sprintf("✗ %d of %d", broken, len(all)))
	for _, j := range all {
		if j.known && !j.OK && !short {
			return text + "  " + cells.Fit(units.Clean(j.Expr), 32) + ": " + ThresholdValue(j.Threshold)
		}
	}
	return text
}

func (b *body) generatorLine() string {
	busy, lag, trouble := b.m.generator()
	if lag.Count() == 0 {
		return ""
	}
	text := fmt.Sprintf("%d%% busy, starts on time", busy/10_000)
	if late := lag.Quantile(990_000); late > 0 && lag.Count() >= startsLeast {
		text = fmt.Sprintf("%d%% busy, %s late at p99", busy/10_000, units.Latency(late))
	} else if lag.Max() > 0 {
		text = fmt.Sprintf("%d%% busy, %s late at most", busy/10_000, units.Latency(lag.Max()))
	}
	if trouble != "" {
		return b.s.paint(warn, "generator  "+trouble+": "+text)
	}
	return b.s.paint(faint, "generator") + "  " + text
}
