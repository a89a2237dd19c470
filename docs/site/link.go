package site

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// link is a link of a page, with its destination.
type link struct {
	node     ast.Node
	line     int
	source   string // source of the destination; empty for another site
	fragment string
	image    bool
}

// pictures are the images that a page may show.
var pictures = []string{".svg", ".png"}

// readLinks finds a page's links, and queues their destinations.
func (b *builder) readLinks(p *page) {
	_ = ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			b.addLink(p, n, string(n.Destination), false)
		case *ast.Image:
			b.addLink(p, n, string(n.Destination), true)
		case *ast.HTMLBlock, *ast.RawHTML:
			if html := raw(n, p.text); !isComment(html) {
				b.fault(p.source, p.lineOf(n, nil), "HTML is not kept but comments: write %.40q as Markdown", html)
			}
		}
		return ast.WalkContinue, nil
	})
}

// addLink refuses what leads nowhere.
func (b *builder) addLink(p *page, n ast.Node, destination string, image bool) {
	line := p.lineOf(n, []byte(destination))
	u, err := url.Parse(destination)
	switch {
	case err != nil:
		b.fault(p.source, line, "the link %q is no URL: %v", destination, err)
		return
	case image && (u.Scheme != "" || u.Host != ""):
		b.fault(p.source, line, "the image %q is elsewhere, and a page asks for nothing: keep it beside the page", destination)
		return
	case u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "mailto":
		return
	case u.Scheme != "" || u.Host != "" || u.RawQuery != "" || strings.HasPrefix(u.Path, "/"):
		b.fault(p.source, line, "the link %q is neither a file of the repository, seen from here, nor a https:// address", destination)
		return
	}
	source := p.source
	if u.Path != "" {
		source = path.Join(path.Dir(p.source), u.Path)
	}
	if _, err := fs.Stat(b.tree, source); err != nil {
		b.fault(p.source, line, "%q leads to %s, which is not there", destination, source)
		return
	}
	if image {
		b.addImage(p, line, source)
	} else {
		b.want(source)
	}
	p.links = append(p.links, link{n, line, source, u.Fragment, image})
}

// addImage copies one that a page shows.
func (b *builder) addImage(p *page, line int, source string) {
	content, err := fs.ReadFile(b.tree, source)
	if err != nil || !slices.Contains(pictures, path.Ext(source)) {
		b.fault(p.source, line, "the image %s is none of %s", source, strings.Join(pictures, ", "))
		return
	}
	b.files[imageOut(source)] = content
}

// resolve writes into a page's links where their targets are in the site, and finds the
// anchors that are not.
func (b *builder) resolve(p *page) {
	for _, l := range p.links {
		if l.image {
			l.node.(*ast.Image).Destination = []byte(relative(p.out, imageOut(l.source)))
			continue
		}
		target := b.pages[l.source]
		if target.out == "" {
			continue // read has reported it
		}
		destination := relative(p.out, target.out)
		if target == p {
			destination = ""
		}
		if l.fragment != "" {
			if !slices.ContainsFunc(target.headings, func(h heading) bool { return h.ID == l.fragment }) {
				b.fault(p.source, l.line, "%s has no heading #%s%s", l.source, l.fragment, target.nearest(l.fragment))
			}
			destination += "#" + l.fragment
		}
		l.node.(*ast.Link).Destination = []byte(destination)
	}
}

// nearest names an anchor that may be meant.
func (p *page) nearest(fragment string) string {
	for _, h := range p.headings {
		if strings.Contains(h.ID, fragment) || strings.Contains(fragment, h.ID) {
			return fmt.Sprintf(" (is #%s meant?)", h.ID)
		}
	}
	return ""
}

// lineOf is where a node stands, found by a text in it, or else where its block begins.
func (p *page) lineOf(n ast.Node, text []byte) int {
	for n != nil && n.Type() == ast.TypeInline {
		n = n.Parent()
	}
	for n != nil && (n.Lines() == nil || n.Lines().Len() == 0) {
		if n = n.Parent(); n == nil || n.Kind() == ast.KindDocument {
			return 1
		}
	}
	at := n.Lines().At(0).Start
	if found := bytes.Index(p.text[at:], text); found >= 0 {
		at += found
	}
	return 1 + bytes.Count(p.text[:at], []byte("\n"))
}
