package subjob

import (
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// Given is what the workflows before one have provided to it. Their results count, so
// that a majority has it: it is the same for each attempt and each manager. The first
// dispatch collects it for all.
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

// dispatchMax is what a dispatch's program and values may take of a frame.
const dispatchMax = message.FrameMax - 4096

// TooMuch says why a program and what other workflows have given do not go into one
// dispatch; empty: they do. A program of the language's own bounds always does.
func TooMuch(p message.Program, given []message.Provided) string {
	d := message.ShardDispatch{Program: p, Given: given}
	if n := d.Size(); len(given) > 0 && n > dispatchMax {
		return fmt.Sprintf("the program and what other workflows provide have %d bytes together, the bound is %d: provide less, or pass less with --set", n, dispatchMax)
	}
	return ""
}
