package linear

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// aroundMax bounds the operations shown beside the one without a place.
const aroundMax = 24

// Explain describes a failed partition: as text the operation without a place and those around
// it, as a page porcupine's picture of the window.
func (p *Partition[S, O]) Explain() (text string, page []byte) {
	if p.failure == nil {
		return p.Label() + ": nothing was found wrong\n", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nbefore these operations:\n", p.failure.Detail)
	for _, c := range p.start {
		fmt.Fprintf(&b, "  %s\n", p.model.State(c.state))
	}
	b.WriteString("\noperations, by their calls (> was open together with the one that fits nowhere):\n")
	for i := max(0, p.stuck-aroundMax); i < min(len(p.ops), p.stuck+aroundMax); i++ {
		p.describe(&b, i)
	}
	return b.String(), p.picture()
}

func (p *Partition[S, O]) describe(b *strings.Builder, i int) {
	o, stuck := &p.ops[i], &p.ops[p.stuck]
	mark, until := ' ', o.to.At.String()
	switch {
	case o.fate == dropped:
		return
	case i == p.stuck:
		mark = 'X'
	case o.call < stuck.end && stuck.call < o.end:
		mark = '>'
	}
	if o.fate != returned {
		until = "?"
	}
	fmt.Fprintf(b, "%c %s/%d %v .. %s  %s\n", mark, o.from.Node, o.from.Incarnation, o.from.At, until, p.model.Operation(&o.o, o.fate == returned))
}

// picture returns the window as porcupine draws it. Its bytes depend on map order, so they must
// not enter a hash. A window that is too large for a second search has no picture.
func (p *Partition[S, O]) picture() []byte {
	if !p.small() {
		return nil
	}
	start := p.start[0]
	h, lanes := history(p.ops, p.taken(start))
	m := p.model.porcupine(start.state)
	_, info := porcupine.CheckOperationsVerbose(m, h, 0)
	var notes []porcupine.Annotation
	for n, l := range lanes {
		notes = append(notes, porcupine.Annotation{ClientId: n, Description: string(l.node)})
	}
	info.AddAnnotations(notes)
	var page bytes.Buffer
	if err := porcupine.Visualize(m, info, &page); err != nil {
		return nil
	}
	return page.Bytes()
}
