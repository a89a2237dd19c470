package documents

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// opened is a sink of a place that has passed its check.
func opened(t *testing.T, k outputs.Kind, place string) (outputs.Sink, *outputs.Settings) {
	t.Helper()
	s, err := outputs.Parse(&k, place)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := k.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	if err := sink.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	return sink, s
}

func checked(k outputs.Kind, place string) error {
	s, err := outputs.Parse(&k, place)
	if err != nil {
		return err
	}
	sink, err := k.Open(s)
	if err != nil {
		return err
	}
	defer sink.Close()
	return sink.Check(context.Background())
}

func deliver(t *testing.T, sink outputs.Sink, rows ...outputs.Row) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for part := range slices.Chunk(rows, mongoRows) { // as the shell cuts them
		if out := sink.Deliver(ctx, outputs.Batch{Rows: part}); out.Verdict != outputs.VerdictDelivered {
			t.Fatalf("%+v", out)
		}
	}
}

// comesBack delivers rows in and out of order, and reads them back.
func comesBack(t *testing.T, k outputs.Kind, place string) {
	sink, s := opened(t, k, place)
	rows := outputstest.Rows("a")
	deliver(t, sink, rows...)
	deliver(t, sink, rows...) // a repeated row changes nothing
	want := append([]outputs.Row(nil), rows...)
	older := want[0]
	older.Version = outputs.Version{}
	older.Figures = &outputs.Figures{Begun: 99_999}
	deliver(t, sink, older) // a smaller version neither
	newer := want[1]
	newer.Version.Set(0, 1<<40) // its digits are fewer than those of the next, its number is greater
	newer.Figures = &outputs.Figures{Begun: 7, Blunt: true}
	deliver(t, sink, newer)
	late := want[1]
	late.Version.Set(0, 9<<32)
	deliver(t, sink, late)
	want[1] = newer
	deliver(t, sink, outputstest.Rows("other")...)
	got, err := k.ReadBack(s, "a")
	if err != nil {
		t.Fatal(err)
	}
	byKey := cmpopts.SortSlices(func(a, b outputs.Row) bool { return Name(&a) < Name(&b) })
	if d := cmp.Diff(want, got, byKey, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	if none, err := k.ReadBack(s, "none"); err != nil || len(none) > 0 {
		t.Fatalf("%d rows of a job that is none: %v", len(none), err)
	}
}

// DOC-1: rows that differ in one part of their key have different names, whatever the parts are.
func TestKeysTellRowsApart(t *testing.T) {
	parts := []string{"", "/", "a", "a/b", "b", "%2F", "é", "\xff", "a%2Fb", "request"}
	known := map[string]string{}
	add := func(r outputs.Row, what string) {
		if other, twice := known[Name(&r)]; twice {
			t.Errorf("%q is the name of %s and of %s", Name(&r), other, what)
		}
		known[Name(&r)] = what
	}
	for _, datacenter := range parts {
		for _, workflow := range parts {
			for _, step := range parts {
				r := outputs.Row{Kind: outputs.RowWindow, Datacenter: datacenter, Workflow: workflow, Step: step}
				add(r, fmt.Sprintf("%q %q %q", datacenter, workflow, step))
				r.StepKind = message.StepFunction
				add(r, fmt.Sprintf("function %q %q %q", datacenter, workflow, step))
			}
		}
		for i := range 3 {
			add(outputs.Row{Kind: outputs.RowThreshold, Workflow: datacenter, Threshold: &outputs.Threshold{Expression: parts[i]}}, fmt.Sprintf("threshold %q %q", datacenter, parts[i]))
			add(outputs.Row{Kind: outputs.RowEvent, Workflow: datacenter, Event: &outputs.Event{Sequence: uint64(i)}}, fmt.Sprintf("event %q %d", datacenter, i))
		}
	}
}
