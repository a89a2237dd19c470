package outputs_test

import (
	"context"
	"testing"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// carrying is a shell whose batches have three rows, and a fake sink.
func carrying(t *testing.T, delivery outputs.Delivery, does ...outputs.Outcome) (*outputs.Shell, *fake) {
	t.Helper()
	kind := &outputs.Kind{Name: "fake", Delivery: delivery, Limits: outputs.Limits{Rows: 3, Age: time.Hour}}
	s, err := outputs.Placed(kind, "x")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{does: verdicts(does...)}
	h := outputs.NewShell("fake", s, f, outputstest.Pace())
	t.Cleanup(h.Close)
	return h, f
}

// TestParcels: what a report says of one parcel, by what the sink answers, and how often it was asked.
func TestParcels(t *testing.T) {
	unclear, ok := outputs.Unclear("no answer"), outputs.Delivered()
	for _, c := range []struct {
		what     string
		delivery outputs.Delivery
		again    bool
		does     []outputs.Outcome
		want     outputs.Report
		tries    int
	}{
		{"delivered in batches", outputs.Exact, false, nil, outputs.Report{Delivered: 8}, 3},
		{"again", outputs.Exact, false, []outputs.Outcome{ok, outputs.Again(0, "busy")}, outputs.Report{Delivered: 8, Tries: 1, Why: "busy"}, 4},
		{"some rejected", outputs.Exact, false, []outputs.Outcome{outputs.Rejected([]int{1}, "bad")}, outputs.Report{Delivered: 7, Rejected: 1, RejectedRequests: 10, RejectedWhy: "bad"}, 3},
		{"unclear, exact", outputs.Exact, true, []outputs.Outcome{unclear}, outputs.Report{Delivered: 8, Tries: 1, Why: "no answer"}, 4},
		{"unclear twice, of one that adds up", outputs.AtLeastOnce, false, []outputs.Outcome{ok, unclear, unclear}, outputs.Report{Delivered: 8, PerhapsTwice: 6, Tries: 2, Why: "no answer"}, 5},
		{"often unclear: a row counts once", outputs.AtLeastOnce, false, []outputs.Outcome{unclear, unclear, unclear, unclear}, outputs.Report{Delivered: 8, PerhapsTwice: 8, Tries: 4, Why: "no answer"}, 7},
		{"taken over, of one that adds up", outputs.AtLeastOnce, true, []outputs.Outcome{unclear}, outputs.Report{Delivered: 8, PerhapsTwice: 8, Tries: 1, Why: "no answer"}, 4},
		{"taken over, of one that repeats nothing", outputs.AtMostOnce, true, nil, outputs.Report{Lost: 8, LostRequests: 80, Why: "another gate may have sent these rows, and this kind repeats none"}, 0},
		{"a failure, at most once", outputs.AtMostOnce, false, []outputs.Outcome{ok, outputs.Again(0, "no buffer")}, outputs.Report{Delivered: 5, Lost: 3, LostRequests: 30, Why: "no buffer"}, 3},
		{"too large", outputs.Exact, false, []outputs.Outcome{outputs.Smaller("3")}, outputs.Report{Delivered: 8}, 5},
	} {
		t.Run(c.what, func(t *testing.T) {
			h, f := carrying(t, c.delivery, c.does...)
			news := 0
			got := h.Carry(t.Context(), &outputs.Parcel{Rows: windows(8, 3), Again: c.again, News: func(string) { news++ }})
			c.want.Name, c.want.Kind, c.want.Rows = "fake", "fake", 8
			if got != c.want || len(f.tries) != c.tries || news != int(c.want.Tries) {
				t.Errorf("%d tries, %d told\n got %+v\nwant %+v", len(f.tries), news, got, c.want)
			}
			for _, b := range f.tries {
				if b.Again != c.again {
					t.Errorf("batch %d of a parcel: again %v", b.Number, b.Again)
				}
			}
			if all := h.Report(); all != c.want {
				t.Errorf("the sink's own: %+v", all)
			}
		})
	}
}

// TestParcelsAreCutAlike: a successor's batches have the rows of its predecessor's, whatever else the sink delivers.
func TestParcelsAreCutAlike(t *testing.T) {
	first, f := carrying(t, outputs.Exact)
	first.Carry(t.Context(), &outputs.Parcel{Rows: windows(7, 3)})
	second, g := carrying(t, outputs.Exact)
	second.Carry(t.Context(), &outputs.Parcel{Rows: windows(2, 3)})
	second.Carry(t.Context(), &outputs.Parcel{Rows: windows(7, 3), Again: true})
	if len(f.tries) != 3 || len(g.tries) != 4 {
		t.Fatalf("%d and %d batches", len(f.tries), len(g.tries))
	}
	for i, b := range f.tries {
		other := g.tries[i+1]
		if len(b.Rows) != len(other.Rows) || b.Rows[0].Key() != other.Rows[0].Key() {
			t.Errorf("batch %d: %d rows from %s, then %d from %s", i, len(b.Rows), b.Rows[0].Key(), len(other.Rows), other.Rows[0].Key())
		}
	}
}

// TestAParcelThatIsForgottenIsBehind: it is neither delivered nor lost, and the sink's own report leaves it out.
func TestAParcelThatIsForgottenIsBehind(t *testing.T) {
	h, f := carrying(t, outputs.Exact)
	ctx, cancel := context.WithCancel(t.Context())
	f.does = func(b outputs.Batch) outputs.Outcome {
		if b.Number == 1 {
			return outputs.Delivered()
		}
		cancel()
		return outputs.Again(time.Hour, "busy")
	}
	got := h.Carry(ctx, &outputs.Parcel{Rows: windows(8, 3)})
	if want := (outputs.Report{Name: "fake", Kind: "fake", Rows: 8, Delivered: 3, Behind: 5, Tries: 1, Why: "busy"}); got != want {
		t.Errorf("got %+v", got)
	}
	if all := h.Report(); all.Rows != 3 || all.Behind != 0 {
		t.Errorf("the sink's own: %+v", all)
	}
}

// TestAParcelFailsAlone: rejected credentials end the parcel that has waited for them, and the next one is tried.
func TestAParcelFailsAlone(t *testing.T) {
	h, f := carrying(t, outputs.Exact)
	f.does = func(outputs.Batch) outputs.Outcome { return outputs.Denied("401") }
	got := h.Carry(t.Context(), &outputs.Parcel{Rows: windows(8, 3)})
	if got.Failed != "401" || got.Lost != 8 || got.LostRequests != 80 {
		t.Errorf("got %+v", got)
	}
	f.does = verdicts()
	if got := h.Carry(t.Context(), &outputs.Parcel{Rows: windows(8, 3)}); got.Failed != "" || got.Delivered != 8 {
		t.Errorf("the next one: %+v", got)
	}
}
