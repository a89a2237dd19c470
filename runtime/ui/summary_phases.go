package ui

import (
	"math/bits"

	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// PhaseNames are the phases of a request, in the order in which a request goes through them.
var PhaseNames = [...]string{"blocked", "dns", "connect", "tls", "send", "wait", "receive"}

// phases tell where the mean latency of each step went. A phase that only some requests
// have, as connecting is, counts with its share: the columns add up to the mean.
func (d *summary) phases(steps []report.Step, names int) {
	used := [len(PhaseNames)]bool{}
	for _, s := range steps {
		for i, name := range PhaseNames {
			used[i] = used[i] || s.PhasesNS[name].Mean > 0
		}
	}
	t := &table{style: d.style, indent: 2, first: names, head: []string{"mean", "all"}}
	for i, name := range PhaseNames {
		if used[i] {
			t.head = append(t.head, name)
		}
	}
	if len(t.head) == 2 {
		return
	}
	for _, s := range steps {
		row := []cell{plain(d.style.fit(units.Clean(s.Name), names)), plain(units.LatencyOr(s.LatencyNS.Mean))}
		for i, name := range PhaseNames {
			if used[i] {
				row = append(row, plain(units.LatencyOr(Portion(s.PhasesNS[name], s.LatencyNS.Count))))
			}
		}
		t.rows = append(t.rows, row)
	}
	d.add("")
	d.add(t.draw()...)
}

// Portion is a phase's part of the mean of so many requests.
func Portion(p report.Distribution, requests uint64) uint64 {
	if requests == 0 {
		return 0
	}
	hi, lo := bits.Mul64(p.Mean, p.Count)
	mean, _ := bits.Div64(hi%requests, lo, requests)
	return mean
}

// measures show what the steps' protocols count or time beside the latency.
func (d *summary) measures(steps []report.Step, names int) {
	t := &table{style: d.style, indent: 2, first: names, head: []string{"measure", "count", "p50", "p95", "p99", "max"}}
	for i := range steps {
		s := &steps[i]
		for _, name := range s.MeasureNames() {
			m := s.Measures[name]
			row := []cell{plain(d.style.fit(units.Clean(s.Name+" "+name), names)), plain(units.Count(m.Count))}
			for range 4 {
				row = append(row, plain(""))
			}
			if l := m.TimesNS; l != nil {
				row = append(row[:2], plain(units.Latency(l.P50)), plain(units.Latency(l.P95)), plain(units.Latency(l.P99)), plain(units.Latency(l.Max)))
			}
			if l := m.AmountMilli; l != nil {
				row = append(row[:2], plain(units.Milli(l.P50)), plain(units.Milli(l.P95)), plain(units.Milli(l.P99)), plain(units.Milli(l.Max)))
			}
			t.rows = append(t.rows, row)
		}
	}
	if len(t.rows) == 0 {
		return
	}
	d.add("")
	d.add(t.draw()...)
}
