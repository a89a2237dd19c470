package markup

import (
	"strings"

	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

// work counts what a path has visited, and stops it by a panic: xpath has no other way out.
type work struct{ left int }

type tooMuch struct{}

func (w *work) spend(n int) {
	if w.left -= n; w.left < 0 {
		panic(tooMuch{})
	}
}

// walk moves through a tree for a path.
type walk struct {
	*work
	root, at *html.Node
	attr     int // of at; -1: at itself
}

var _ xpath.NodeNavigator = (*walk)(nil)

func (w *walk) NodeType() xpath.NodeType {
	switch {
	case w.attr >= 0:
		return xpath.AttributeNode
	case w.at.Type == html.TextNode:
		return xpath.TextNode
	case w.at.Type == html.DocumentNode:
		return xpath.RootNode
	case w.at.Type == html.ElementNode:
		return xpath.ElementNode
	}
	return xpath.CommentNode
}

func (w *walk) LocalName() string {
	switch {
	case w.attr >= 0:
		return w.at.Attr[w.attr].Key
	case w.at.Type == html.ElementNode:
		return w.at.Data
	}
	return ""
}

// Prefix is none: names are without their namespaces.
func (*walk) Prefix() string { return "" }

func (w *walk) Value() string {
	switch {
	case w.attr >= 0:
		w.spend(1 + len(w.at.Attr[w.attr].Val)/16)
		return w.at.Attr[w.attr].Val
	case w.at.Type == html.TextNode || w.at.Type == html.CommentNode:
		w.spend(1 + len(w.at.Data)/16)
		return w.at.Data
	}
	var b strings.Builder
	for n := range w.at.Descendants() {
		w.spend(1)
		if n.Type == html.TextNode {
			w.spend(len(n.Data) / 16)
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func (w *walk) Copy() xpath.NodeNavigator {
	w.spend(1)
	c := *w
	return &c
}

func (w *walk) MoveToRoot() { w.at, w.attr = w.root, -1 }

func (w *walk) MoveToParent() bool {
	w.spend(1)
	if w.attr >= 0 {
		w.attr = -1
		return true
	}
	return w.to(w.at.Parent)
}

func (w *walk) MoveToNextAttribute() bool {
	w.spend(1)
	if w.attr+1 >= len(w.at.Attr) {
		return false
	}
	w.attr++
	return true
}

func (w *walk) MoveToChild() bool { return w.attr < 0 && w.to(w.at.FirstChild) }

func (w *walk) MoveToFirst() bool {
	if w.attr >= 0 || w.at.PrevSibling == nil {
		return false
	}
	return w.to(w.at.Parent.FirstChild)
}

func (w *walk) MoveToNext() bool { return w.attr < 0 && w.to(w.at.NextSibling) }

func (w *walk) MoveToPrevious() bool { return w.attr < 0 && w.to(w.at.PrevSibling) }

func (w *walk) MoveTo(to xpath.NodeNavigator) bool {
	o, ok := to.(*walk)
	if !ok || o.root != w.root {
		return false
	}
	w.at, w.attr = o.at, o.attr
	return true
}

// to moves to a node; false: there is none.
func (w *walk) to(n *html.Node) bool {
	w.spend(1)
	if n == nil {
		return false
	}
	w.at = n
	return true
}
