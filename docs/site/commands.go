package site

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Block is a block of code in Markdown.
type Block struct {
	Line     int    // of its first line of code
	Language string // as its fence says; empty for an indented one
	Text     string
	// Note is the text after `ci:` in the comment directly above the block, as in <!-- ci: not
	// run: it needs root -->. In a page's first line it applies to every block.
	Note string
}

// Span is code within a sentence.
type Span struct {
	Line int
	Text string
}

// Blocks finds the blocks of code in a manual.
func Blocks(source []byte) []Block {
	p := &page{text: source, root: parse(source)}
	var blocks []Block
	whole, next := "", "" // notes
	for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindHTMLBlock {
			next = noteOf(raw(n, source))
			if all, ok := strings.CutPrefix(next, "every block: "); ok {
				whole, next = all, ""
			}
			continue
		}
		_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
			if !entering || n.Kind() != ast.KindFencedCodeBlock && n.Kind() != ast.KindCodeBlock || n.Lines().Len() == 0 {
				return ast.WalkContinue, nil
			}
			b := Block{Line: p.lineOf(n, nil), Text: string(n.Lines().Value(source)), Note: next}
			if fenced, ok := n.(*ast.FencedCodeBlock); ok {
				b.Language = string(fenced.Language(source))
			}
			if b.Note == "" {
				b.Note = whole
			}
			blocks = append(blocks, b)
			return ast.WalkContinue, nil
		})
		next = ""
	}
	return blocks
}

// noteOf returns a comment's text after `ci:`.
func noteOf(comment string) string {
	comment = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(comment), "<!--"), "-->")
	note, ok := strings.CutPrefix(strings.TrimSpace(comment), "ci:")
	if !ok {
		return ""
	}
	return strings.Join(strings.Fields(note), " ")
}

// Spans finds the code within a manual's sentences.
func Spans(source []byte) []Span {
	p := &page{text: source, root: parse(source)}
	var spans []Span
	_ = ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if n.Kind() != ast.KindCodeSpan || !entering {
			return ast.WalkContinue, nil
		}
		code := codeOf(n, source)
		spans = append(spans, Span{p.lineOf(n, []byte(code)), code})
		return ast.WalkSkipChildren, nil
	})
	return spans
}
