package subjob

import (
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// Given is what earlier workflows have provided to this one. Their results are on a majority,
// so it is the same for each attempt and each manager. The first dispatch collects it for all.
func (f *Workflow) Given() []message.Provided {
	if f.Provided == nil {
		f.Provided = f.Subjob.Provided(f.Index)
	}
	return f.Provided
}

// Provided is what COMPLETED workflows provide to one.
func (p *Subjob) Provided(to uint32) []message.Provided {
	all := []message.Provided{}
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			if s.Result == nil || f.End != message.WorkflowCompleted {
				continue
			}
			for _, v := range s.Result.Provided {
				if slices.Contains(v.To, to) && len(all) < message.ProvidedMax {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// dispatchMax is the part of a frame that a dispatch's program and values may take.
const dispatchMax = message.FrameMax - 4096

// TooMuch says why a program and the given values do not fit one dispatch, or returns "". A
// program within the language's own bounds always fits.
func TooMuch(p message.Program, given []message.Provided) string {
	d := message.ShardDispatch{Program: p, Given: given}
	if n := d.Size(); len(given) > 0 && n > dispatchMax {
		return fmt.Sprintf("the program and what other workflows provide have %d bytes together, the bound is %d: provide less, or pass less with --set", n, dispatchMax)
	}
	return ""
}
