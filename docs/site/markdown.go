package site

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown is CommonMark with tables, and anchors of headings.
func markdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(ours{}, 1))),
	)
}

// parse reads Markdown.
func parse(source []byte) ast.Node {
	return markdown().Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
}

func (b *builder) readMarkdown(p *page) {
	source, err := fs.ReadFile(b.tree, p.source)
	if err != nil {
		b.fault(p.source, 0, "%v", err)
		return
	}
	p.text = source
	p.root = parse(source)
	for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		id, _ := h.AttributeString("id") // the parser gives each one
		anchor, _ := id.([]byte)
		p.headings = append(p.headings, heading{h.Level, string(anchor), plainText(h, source)})
	}
	if len(p.headings) == 0 || p.headings[0].Level != 1 {
		b.fault(p.source, 0, "its first heading is no title: begin it with a line `# Title`")
	} else {
		p.title = p.headings[0].Text
	}
	b.readLinks(p)
}

// plainText is a node's text without markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			text := t.Segment.Value(source)
			if !t.IsRaw() && t.Parent().Kind() != ast.KindCodeSpan {
				text = util.UnescapePunctuations(util.ResolveEntityNames(text))
			}
			b.Write(text)
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchors makes the ids of headings as GitHub does: lower case, letters, digits, - and _,
// spaces as -, and a number behind one that is there already.
type anchors map[string]int

func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	n, taken := a[id]
	a[id] = n + 1
	if taken {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

func (a anchors) Put(value []byte) { a[string(value)]++ }

// ours renders elements of the manuals that goldmark renders otherwise.
type ours struct{}

func (ours) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, nothing)
	r.Register(ast.KindRawHTML, nothing)
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindCodeSpan, renderCode)
	r.Register(ast.KindList, renderList)
	r.Register(extended.KindTable, renderTable)
}

// nothing leaves out a comment; all other HTML is a fault.
func nothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

// renderHeading adds a link to itself, to be copied.
func renderHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id") // the parser gives each one
	if entering {
		_, err := fmt.Fprintf(w, "<h%d id=\"%s\">", h.Level, id)
		return ast.WalkContinue, err
	}
	self := ""
	if h.Level > 1 {
		self = fmt.Sprintf(" <a class=\"self\" href=\"#%s\" aria-label=\"link to this section\">#</a>", id)
	}
	_, err := fmt.Fprintf(w, "%s</h%d>\n", self, h.Level)
	return ast.WalkContinue, err
}

// shortCode is how many letters of code within a sentence stay on one line: a flag is not to be
// parted at its dashes.
const shortCode = 24

// renderCode writes code within a sentence.
func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	code := codeOf(n, source)
	class := ""
	if utf8.RuneCountInString(code) <= shortCode {
		class = " class=\"short\""
	}
	_, err := fmt.Fprintf(w, "<code%s>%s</code>", class, util.EscapeHTML([]byte(code)))
	return ast.WalkSkipChildren, err
}

// codeOf is the text of code within a sentence, where a new line is a space.
func codeOf(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// renderTable lets a wide one be scrolled by itself, so that the page need not be.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "<div class=\"wide\"><table>\n"
	if !entering {
		tag = "</table></div>\n"
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}

// renderList has a long list of links in columns.
func renderList(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	list := n.(*ast.List)
	tag := "ul"
	if list.IsOrdered() {
		tag = "ol"
	}
	switch {
	case !entering:
		tag = "/" + tag
	case n.ChildCount() > 20 && isIndex(n):
		tag += " class=\"index\""
	case list.IsOrdered() && list.Start != 1:
		tag += fmt.Sprintf(" start=\"%d\"", list.Start)
	}
	_, err := fmt.Fprintf(w, "<%s>\n", tag)
	return ast.WalkContinue, err
}

// isIndex says whether a list consists of links only.
func isIndex(list ast.Node) bool {
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		block := item.FirstChild()
		if block == nil || block.ChildCount() != 1 || block.FirstChild().Kind() != ast.KindLink {
			return false
		}
	}
	return true
}

// content renders a page's Markdown.
func (p *page) content() (string, error) {
	var b bytes.Buffer
	err := markdown().Renderer().Render(&b, p.text, p.root)
	return b.String(), err
}

// raw is the HTML of a node.
func raw(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.RawHTML:
		return string(n.Segments.Value(source))
	case *ast.HTMLBlock:
		html := string(n.Lines().Value(source))
		if n.HasClosure() {
			html += string(n.ClosureLine.Value(source))
		}
		return html
	}
	return ""
}

func isComment(html string) bool {
	html = strings.TrimSpace(html)
	return strings.HasPrefix(html, "<!--") && strings.HasSuffix(html, "-->") && strings.Count(html, "-->") == 1
}
