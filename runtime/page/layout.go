package page

import "hyperscale/runtime/page/markup"

// paper is a page that is being written, by the parts that all pages share.
type paper struct{ markup.Writer }

func (p *paper) begin(f *frame) {
	p.Put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>%s</title>
<style>`, policy(), f.Headline)
	p.Embed(style)
	p.Put("</style>\n</head>\n<body>\n")
}

// end is the same on all pages but for what stands first in its foot.
func (p *paper) end(first markup.HTML) {
	p.Put(`
</main>
<footer>%s<p class="note">Written by hyperscale. Latency counts from when a request should have begun, so that a server that stalls cannot hide it; percentiles come from merged histograms, never from averages.</p></footer>
<script>`, first)
	p.Embed(script)
	p.Put("</script>\n</body>\n</html>\n")
}

// note is a paragraph in small letters, if there is a text.
func (p *paper) note(text string) {
	if text != "" {
		p.Put(`<p class="note">%s</p>`, text)
	}
}

func (p *paper) warning(text string) {
	if text != "" {
		p.Put("\n<p class=\"warning\"><b>!</b> %s</p>", text)
	}
}

// order is in which order things begin.
func (p *paper) order(lines []string) {
	if len(lines) == 0 {
		return
	}
	p.Put("\n<p class=\"order\">")
	for _, line := range lines {
		p.Put("<span>%s</span>", line)
	}
	p.Put("</p>")
}

func (p *paper) tables(all []table) {
	for i := range all {
		p.table(&all[i])
	}
}

// table is nothing without rows.
func (p *paper) table(t *table) {
	if len(t.Rows) == 0 {
		return
	}
	p.Put("\n<div class=\"scroll\"><table><caption>%s</caption>\n<thead><tr>", t.Caption)
	for _, h := range t.Head {
		switch {
		case h.Text == "":
			p.Put("<td></td>")
		case h.Number:
			p.Put(`<th scope="col" class="n">%s</th>`, h.Text)
		default:
			p.Put(`<th scope="col">%s</th>`, h.Text)
		}
	}
	p.Put("</tr></thead>\n<tbody>")
	named := t.named()
	for _, row := range t.Rows {
		p.Put("\n<tr>")
		for i := range row {
			p.cell(&row[i], i == named, t.Head[i].Number)
		}
		p.Put("</tr>")
	}
	p.Put("\n</tbody></table></div>")
	p.note(t.Note)
	p.note(t.More)
}

// cell may name its row. An empty one names nothing: its row goes on with the one above.
func (p *paper) cell(c *cell, names, number bool) {
	end := "td"
	switch {
	case names && c.Text != "":
		end = "th"
		p.Put(`<th scope="row">%s`, c.Text)
	case number:
		p.Put(`<td class="n %s">%s%s`, c.Class, c.Text, c.Drawing)
	default:
		p.Put(`<td class="%s">%s%s`, c.Class, c.Text, c.Drawing)
	}
	if c.Under != "" {
		p.Put("<small>%s</small>", c.Under)
	}
	p.Put("</%s>", end)
}

func (p *paper) figures(all []figure) {
	p.Put(`<div class="figures">`)
	for i := range all {
		p.figure(&all[i])
	}
	p.Put("</div>")
}

func (p *paper) figure(f *figure) {
	p.Put("\n<figure><figcaption><b>%s</b>", f.Title)
	if f.Unit != "" {
		p.Put(` <span class="unit">%s</span>`, f.Unit)
	}
	p.Put("\n<span class=\"keys\">")
	for _, k := range f.Legend {
		p.Put(`<span class="key"><svg width="18" height="10" aria-hidden="true"><line class="line %s" x1="0" x2="18" y1="5" y2="5"/></svg>%s</span>`, k.Class, k.Text)
	}
	p.Put("</span></figcaption>\n<div class=\"hover\" data-hover=\"%s\">%s</div>", f.Hover, f.SVG)
	if f.Note != "" {
		p.Put("\n")
		p.note(f.Note)
	}
	p.Put("</figure>")
}

// phases are nothing where none was measured.
func (p *paper) phases(all *phases) {
	if all == nil {
		return
	}
	p.Put("\n<figure class=\"phases\"><figcaption><b>Where the mean latency went</b>\n<span class=\"keys\">")
	for _, k := range all.Legend {
		p.Put(`<span class="key"><svg width="10" height="10" aria-hidden="true"><rect class="%s" width="10" height="10"/></svg>%s</span>`, k.Class, k.Text)
	}
	p.Put("</span></figcaption>\n<div class=\"bars\">")
	for i := range all.Bars {
		b := &all.Bars[i]
		p.Put("\n<div><p><span>%s</span> <b>%s</b></p>%s<p class=\"parts\">%s</p></div>", b.Name, b.Mean, b.SVG, b.Parts)
	}
	p.Put("</div>")
	p.note(all.More)
	p.Put("</figure>")
}

// fold begins what a reader unfolds; </details> ends it.
func (p *paper) fold(open bool, name, line string) {
	p.Put("\n<details class=\"step\"")
	if open {
		p.Put(" open")
	}
	p.Put("><summary><b>%s</b> <span>%s</span></summary>", name, line)
}

func (p *paper) details(all []detail) {
	for i := range all {
		d := &all[i]
		p.fold(d.Open, d.Name, d.Line)
		p.figures(d.Figures)
		p.Put("</details>")
	}
}

func (p *paper) sources(all []source) {
	for i := range all {
		s := &all[i]
		p.Put("\n<details class=\"source\"><summary><b>%s</b> <span>source</span></summary><div class=\"code\"><pre aria-hidden=\"true\">%s</pre><pre>%s</pre></div>", s.Name, s.Numbers, s.Text)
		if s.Cut {
			p.note("there was more: it is cut here")
		}
		p.Put("</details>")
	}
}
