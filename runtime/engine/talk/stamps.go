package talk

import (
	"slices"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/talk/stamp"
	"hyperscale/runtime/protocol/codec"
)

// stamper writes and reads the stamps of a loop's messages.
type stamper struct {
	machine *stamp.Clock // nil: it was not asked yet
	text    []byte       // the stamp under construction
	values  [][]byte     // behind it
}

func (s *stamper) clock() *stamp.Clock {
	if s.machine == nil {
		s.machine = stamp.New()
	}
	return s.machine
}

// stampWord stands for the stamp in a header: no text of a file has it.
const stampWord = "\x00stamp\x00"

// stampedHead adds the header of a stamp, and its word to those for which values stand: it is the first of them.
func stampedHead(headers []builtin.Pair, all []request.Placeholder) ([]builtin.Pair, []request.Placeholder) {
	headers = append(slices.Clone(headers), builtin.Pair{Name: request.StampHeader, Value: stampWord})
	out := []request.Placeholder{{Word: stampWord}}
	for _, p := range all {
		p.Var++
		out = append(out, p)
	}
	return headers, out
}

// stamped returns the values of an exchange behind a stamp of when it was queued, until the next one asks.
func (x *Exchange) stamped() [][]byte {
	s := &x.stock.stamps
	c := s.clock()
	s.text = c.Append(s.text[:0], c.Of(x.stock.clock.Base, x.said))
	s.values = append(append(s.values[:0], s.text), x.values...)
	return s.values
}

// arrived measures a message that came, if it has a stamp.
func (k *Stock) arrived(a *measure.Account, stamp string) {
	c := k.stamps.clock()
	if age, known := c.Age(stamp, c.Of(k.clock.Base, k.clock.Now)); known {
		a.Deliveries().Arrived(age)
	} else {
		a.Deliveries().Undated()
	}
}

// dated measures a message by its header.
func (k *Stock) dated(a *measure.Account, head codec.Fields) {
	for i := range head.Len() {
		if name, value := head.At(i); string(name) == request.StampHeader {
			k.arrived(a, string(value))
			return
		}
	}
}

// datedPairs is the same of a session's message.
func (k *Stock) datedPairs(a *measure.Account, head []builtin.Pair) {
	for i := range head {
		if head[i].Name == request.StampHeader {
			k.arrived(a, head[i].Value)
			return
		}
	}
}
