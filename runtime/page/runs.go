package page

import (
	"cmp"
	"strconv"

	"hyperscale/runtime/compare"
	"hyperscale/runtime/report"
)

// diffed is a file of a workflow's source as it was and is.
type diffed struct {
	Name, Line string
	Open       bool
	Lines      []diffLine
}

// runs shows the commands of both files, the machines, and the sources.
func (d *contrast) runs(p *compare.Pair) part {
	a, b := d.Baseline.Result.Run, p.Run.Result.Run
	if a == nil && b == nil {
		return part{}
	}
	out := part{Title: "How they were run"}
	t := table{Head: heads("what", "baseline", "now", "")}
	for _, one := range []struct {
		name string
		of   func(*report.Run) string
	}{
		{"hyperscale", func(r *report.Run) string { return d.named(r.Version) }},
		{"built with", func(r *report.Run) string { return d.named(r.Go) }},
		{"system", func(r *report.Run) string { return d.named(r.System) }},
		{"processor", func(r *report.Run) string { return d.processor(r) }},
		{"seed", func(r *report.Run) string { return strconv.FormatUint(r.Seed, 10) }},
	} {
		row := words(one.name, "not known", "not known", "")
		for i, r := range []*report.Run{a, b} {
			if r != nil {
				row[i+1].Text = one.of(r)
			}
		}
		if row[1].Text != row[2].Text {
			row[3] = cell{Text: "differs", Class: warn}
		}
		t.Rows = append(t.Rows, row)
	}
	out.Tables = []table{t}
	if a == nil || b == nil {
		out.Notes = []string{"One of the runs was only watched: its command and source are not known."}
		return out
	}
	before, after := d.command(a.Command), d.command(b.Command)
	if before == after {
		out.Commands = []labelled{{"Both with", before}}
	} else {
		out.Commands = []labelled{{"The baseline", before}, {"Now", after}}
	}
	d.sources(&out, a.Files, b.Files)
	return out
}

// textless says that a run has no text of a file.
func textless(f *report.SourceFile) bool { return f == nil || f.Text == "" }

// sources tell each file once where it stayed, and what changed where it did.
func (d *contrast) sources(out *part, before, after []report.SourceFile) {
	was := map[string]*report.SourceFile{}
	for i := range before {
		was[before[i].Name] = &before[i]
	}
	shown, left := 0, 0
	one := func(x, y *report.SourceFile) {
		if textless(x) && textless(y) {
			if x == nil || y == nil || x.SHA256 != y.SHA256 {
				out.Notes = append(out.Notes, d.named(cmp.Or(y, x).Name)+" is not the same in both runs. Results keep source with --with-source.")
			}
			return
		}
		if shown == d.rows || d.source == 0 {
			left++
			return
		}
		shown++
		if x != nil && y != nil && *x == *y {
			out.Sources = append(out.Sources, d.file(y))
			return
		}
		f := diffed{Line: "source: what changed", Open: true}
		var texts [2]string
		for i, side := range []*report.SourceFile{x, y} {
			if side != nil {
				f.Name, texts[i] = d.named(side.Name), printable(side.Text)
			}
		}
		switch {
		case x == nil:
			f.Line = "source: only now"
		case y == nil:
			f.Line = "source: only in the baseline"
		case x.Cut || y.Cut:
			f.Line += ", in as much of it as is kept"
		}
		d.source -= min(len(texts[0])+len(texts[1]), d.source)
		f.Lines = diff(texts[0], texts[1])
		out.Diffs = append(out.Diffs, f)
	}
	for i := range after {
		one(was[after[i].Name], &after[i])
		delete(was, after[i].Name)
	}
	for i := range before {
		if was[before[i].Name] != nil {
			one(&before[i], nil)
		}
	}
	if left > 0 {
		out.Notes = append(out.Notes, more(left, 0, "file"))
	}
}
