package inspect

import (
	"cmp"
	"slices"

	"go.starlark.net/syntax"

	"hyperscale/core/workflow/language"
)

// Finding is a mistake, or a suspicion of one.
type Finding struct {
	language.Error
	Warning bool
}

// Sort orders findings by place, and keeps the first of equal ones: one mistake is one
// finding, in however many roles its function runs.
func Sort(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(all, func(a, b Finding) bool {
		return a.File == b.File && a.Line == b.Line && a.Col == b.Col && a.Message == b.Message
	})
}

// find adds a finding about a part of the syntax.
func (p *program) find(n syntax.Node, warning bool, message, remedy string) {
	if p.full() {
		return
	}
	from, to := n.Span()
	p.findAt(from, p.source.Width(from, to), warning, message, remedy)
}

func (p *program) findAt(at syntax.Position, width int, warning bool, message, remedy string) {
	if p.full() {
		return
	}
	e := p.source.ErrorAt(at.Filename(), int(at.Line), int(at.Col), max(width, 1), message, remedy)
	p.findings = append(p.findings, Finding{*e, warning})
}

// full reports that nothing more is found: in a round that only collects, and once the walk gave
// up, when what it knows may be half of the truth.
func (p *program) full() bool {
	return p.silent || p.work > workMax || len(p.findings) >= findingsMax
}

// fault adds what a function of the language says about its call.
func (p *program) fault(call *syntax.CallExpr, f *language.Fault) {
	if p.full() {
		return
	}
	p.findings = append(p.findings, Finding{*p.source.Explain(call.Lparen.Filename(), f.Of(call.Lparen)), false})
}
