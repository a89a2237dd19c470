package page

import (
	"fmt"

	"hyperscale/runtime/page/markup"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// bar is where the mean latency of one step went.
type bar struct {
	Name  string
	Mean  string
	SVG   markup.HTML
	Parts string // as text
}

// phases are the bars of a workflow's steps, as long as their means.
type phases struct {
	Legend []key
	Bars   []bar
	More   string
}

func (d *drawer) phases(all []report.Step) *phases {
	shown := first(all, d.rows)
	var longest uint64
	used := map[string]bool{}
	for i := range shown {
		longest = max(longest, shown[i].LatencyNS.Mean)
		for name, p := range shown[i].PhasesNS {
			used[name] = used[name] || ui.Portion(p, shown[i].LatencyNS.Count) > 0
		}
	}
	out := &phases{More: more(len(all), len(shown), "step")}
	for i, name := range ui.PhaseNames {
		if used[name] {
			out.Legend = append(out.Legend, key{fmt.Sprintf("ph%d", i), name})
		}
	}
	if longest == 0 || len(out.Legend) == 0 {
		return nil
	}
	for i := range shown {
		if shown[i].LatencyNS.Count > 0 {
			out.Bars = append(out.Bars, d.bar(&shown[i], longest))
		}
	}
	return out
}

func (d *drawer) bar(s *report.Step, longest uint64) bar {
	b := bar{Name: d.named(s.Name), Mean: units.Latency(s.LatencyNS.Mean)}
	var drawing, rects markup.Writer
	at := 0.0
	for i, name := range ui.PhaseNames {
		part := ui.Portion(s.PhasesNS[name], s.LatencyNS.Count)
		if part == 0 {
			continue
		}
		if b.Parts != "" {
			b.Parts += ", "
		}
		b.Parts += name + " " + units.Latency(part)
		share := min(100*float64(part)/float64(longest), 100-at)
		rects.Put(`<rect class="ph%d" x="%.2f%%" width="%.2f%%" height="14"/>`, i, at, max(share, 0))
		at += max(share, 0)
	}
	drawing.Put(`<svg class="bar" role="img" width="100%%" height="14"><title>%s</title>%s</svg>`, b.Name+": "+b.Parts, rects.HTML())
	b.SVG = drawing.HTML()
	return b
}
