package output

import (
	"testing"
	"time"

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

// A result that ends at another time is the same row: a place with one column for the key replaces the former one. A window
// with another end is another row.
func TestTheEndOfAResultIsNoPartOfItsKey(t *testing.T) {
	for kind := RowRun; kind <= RowEvent; kind++ {
		r := Row{Kind: kind, Job: "j", Workflow: "w", Step: "s", StepKind: message.StepRequest, To: time.Second}
		later := r
		later.To += time.Second
		if same := r.Key() == later.Key(); same == kind.Spans() {
			t.Errorf("a row of kind %s that ends later: %q and %q", kind, r.Key(), later.Key())
		}
	}
	for _, kind := range []RowKind{RowWindow, RowLost} {
		a, b := Row{Kind: kind, To: 2 * time.Second}, Row{Kind: kind, From: time.Second, To: 2 * time.Second}
		if a.Key() == b.Key() {
			t.Errorf("rows of kind %s that begin at 0s and at 1s have one key: %q", kind, a.Key())
		}
	}
}
