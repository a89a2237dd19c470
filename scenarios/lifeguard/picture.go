package lifeguard

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Sizes of the picture, in pixels.
const (
	pictureWidth  = 920
	pictureHeight = 420
	panelTop      = 60
	panelBottom   = 340
	leftFrom      = 70
	leftTo        = 470
	rightFrom     = 560
	rightTo       = 890
)

// colours of the settings, in their order.
func colours() []string {
	return []string{"#b3261e", "#e08a00", "#2f7d32", "#7a5bb5", "#1565c0", "#111111"}
}

// Picture draws on the left how false positives at healthy members grow with the length of the
// blocks. On the right it draws how soon members detect true failures.
func (s *Summary) Picture() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", pictureWidth, pictureHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", pictureWidth, pictureHeight)
	s.drawPositives(&b)
	s.drawTimes(&b)
	for i := range s.Columns {
		x := leftFrom + i*140
		fmt.Fprintf(&b, `<rect x="%d" y="395" width="12" height="12" fill="%s"/><text x="%d" y="405">%s</text>`+"\n", x, colours()[i], x+18, s.Columns[i].Setting)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// lengths are the D of the interval experiments, ascending.
func (s *Summary) lengths() []int64 {
	var all []int64
	for i := range s.Cells {
		if s.Cells[i].Kind == Interval {
			all = append(all, s.Cells[i].DMillis)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *Summary) drawPositives(b *strings.Builder) {
	lengths := s.lengths()
	sums := map[string]map[int64]uint64{}
	most := uint64(10)
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Kind != Interval {
			continue
		}
		if sums[c.Setting] == nil {
			sums[c.Setting] = map[int64]uint64{}
		}
		sums[c.Setting][c.DMillis] += c.FPHealthy
		most = max(most, sums[c.Setting][c.DMillis])
	}
	decades := math.Ceil(math.Log10(float64(most)))
	y := func(n uint64) float64 { // 0 lies on the axis, 1 a little above it
		share := 0.0
		if n > 0 {
			share = (math.Log10(float64(n)) + 0.3) / (decades + 0.3)
		}
		return panelBottom - share*(panelBottom-panelTop)
	}
	x := func(i int) float64 { return leftFrom + float64(i)*(leftTo-leftFrom)/float64(max(1, len(lengths)-1)) }
	fmt.Fprintf(b, `<text x="%d" y="30" font-size="15">False positives at healthy members, by length of the blocks</text>`+"\n", leftFrom-40)
	for n, at := uint64(1), 0.0; at <= decades; n, at = n*10, at+1 {
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#dddddd"/><text x="%d" y="%.1f" text-anchor="end">%d</text>`+"\n", leftFrom, y(n), leftTo, leftFrom-8, y(n)+4, n)
	}
	fmt.Fprintf(b, `<path d="M%d %dH%d" stroke="#666666"/><text x="%d" y="%d" text-anchor="end">0</text>`+"\n", leftFrom, panelBottom, leftTo, leftFrom-8, panelBottom+4)
	for i, d := range lengths {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x(i), panelBottom+20, blockOf(d))
	}
	for k := range s.Columns {
		var points []string
		for i, d := range lengths {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(i), y(sums[s.Columns[k].Setting][d])))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5"/>`+"\n", strings.Join(points, " "), colours()[k])
	}
}

func blockOf(ms int64) string {
	if ms < 1000 {
		return fmt.Sprintf("%d ms", ms)
	}
	return fmt.Sprintf("%.0f s", float64(ms)/1000)
}

func (s *Summary) drawTimes(b *strings.Builder) {
	most := int64(1)
	for i := range s.Columns {
		most = max(most, s.Columns[i].Full.P99, s.Columns[i].First.P99)
	}
	top := float64((most/5000 + 1) * 5)
	y := func(ms int64) float64 { return panelBottom - float64(ms)/1000/top*(panelBottom-panelTop) }
	fmt.Fprintf(b, `<text x="%d" y="30" font-size="15">True failures: median (bar) and p99 (line)</text>`+"\n", rightFrom-30)
	for at := 0.0; at <= top; at += 5 {
		ms := int64(at * 1000)
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#dddddd"/><text x="%d" y="%.1f" text-anchor="end">%.0f s</text>`+"\n", rightFrom, y(ms), rightTo, rightFrom-6, y(ms)+4, at)
	}
	half := float64(rightTo-rightFrom) / 2
	step := half / float64(len(s.Columns)+1)
	for part, name := range []string{"first detection", "known everywhere"} {
		from := rightFrom + float64(part)*half
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", from+half/2, panelBottom+20, name)
		for k := range s.Columns {
			t := s.Columns[k].First
			if part == 1 {
				t = s.Columns[k].Full
			}
			x := from + step*(float64(k)+0.6)
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y(t.Median), step*0.8, panelBottom-y(t.Median), colours()[k])
			fmt.Fprintf(b, `<path d="M%.1f %.1fV%.1f" stroke="%s" stroke-width="2"/>`+"\n", x+step*0.4, y(t.Median), y(t.P99), colours()[k])
		}
	}
}
