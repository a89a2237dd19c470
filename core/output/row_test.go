package output

import (
	"testing"

	"hyperscale/core/message"
)

// Rows that differ in one part of their key have different keys, whatever their names are: places that have one column for
// the key would keep one of them, and verify would count one.
func TestKeysTellRowsApart(t *testing.T) {
	names := []string{"", "/", "a", "a/b", "b", "%2F", "request", "\xff", "é"}
	known := map[string]Row{}
	for _, datacenter := range names {
		for _, workflow := range names {
			for _, step := range names {
				for _, kind := range []message.StepKind{message.StepNone, message.StepRequest, message.StepPart} {
					r := Row{Kind: RowWindow, Job: "j", Datacenter: datacenter, Workflow: workflow, Step: step, StepKind: kind}
					if other, twice := known[r.Key()]; twice {
						t.Fatalf("%q is the key of %+v and of %+v", r.Key(), other, r)
					}
					known[r.Key()] = r
				}
			}
		}
	}
}
