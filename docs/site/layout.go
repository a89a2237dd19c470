package site

import (
	"bytes"
	_ "embed"
	"html/template"
	"path"
)

//go:embed style.css
var style string

//go:embed layout.html
var layout string

// view holds the values that the layout shows.
type view struct {
	Title, Here    string
	Style          template.CSS
	Home           string
	Sections       []menu
	Contents       []heading // levels 2 and 3
	Body           template.HTML
	Plain          string
	List           []entry
	Previous, Next entry
}

type menu struct {
	Title   string
	Entries []entry
}

type entry struct {
	Link, Label string
	Here        bool
}

// write draws a page.
func (b *builder) write(p *page) {
	if p.out == "" {
		return // read has reported it
	}
	v := view{Title: p.title + " · Hyperscale", Here: p.title, Style: template.CSS(style), Home: relative(p.out, outOf(home, false)), Plain: p.plain}
	if p.source == home {
		v.Title = "Hyperscale"
	}
	b.navigate(p, &v)
	for _, h := range p.headings {
		if h.Level == 2 || h.Level == 3 {
			v.Contents = append(v.Contents, h)
		}
	}
	for _, source := range p.list {
		v.List = append(v.List, entry{Link: relative(p.out, b.pages[source].out), Label: path.Base(source)})
	}
	if p.root != nil {
		body, err := p.content()
		if err != nil {
			b.fault(p.source, 0, "%v", err)
			return
		}
		v.Body = template.HTML(body) // goldmark escapes text
	}
	var out bytes.Buffer
	if err := template.Must(template.New("page").Parse(layout)).Execute(&out, v); err != nil {
		b.fault(p.source, 0, "%v", err)
		return
	}
	b.files[p.out] = out.Bytes()
}

// navigate sets the menu, and the previous and next page.
func (b *builder) navigate(p *page, v *view) {
	var before entry
	found := false
	for _, s := range Navigation() {
		m := menu{Title: s.Title}
		for _, e := range s.Entries {
			line := entry{Link: relative(p.out, b.pages[e.Source].out), Label: e.Label, Here: e.Source == p.source}
			m.Entries = append(m.Entries, line)
			switch {
			case line.Here:
				v.Previous, found = before, true
			case found:
				v.Next, found = line, false
			}
			before = line
		}
		v.Sections = append(v.Sections, m)
	}
}
