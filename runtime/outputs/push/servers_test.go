package push

import (
	"context"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
)

// open opens a kind at a place with options.
func open(t testing.TB, k outputs.Kind, place string) outputs.Sink {
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
	return sink
}

var begun = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// windows are n rows of a step, of windows that follow each other. Window i has i+1 requests.
func windows(job, step string, n int) (rows []outputs.Row) {
	for i := range n {
		h := new(stats.Histogram)
		h.RecordN(uint64(i+1)*1e6, uint64(i+1))
		rows = append(rows, outputs.Row{
			Kind: outputs.RowWindow, Job: job, Test: "checkout.star", Workflow: "buy", Step: step, Started: begun,
			From: time.Duration(i) * 10 * time.Second, To: time.Duration(i+1) * 10 * time.Second,
			Figures: &outputs.Figures{
				Begun: uint64(i + 1), OK: uint64(i + 1), BytesIn: 100, BytesOut: 10, ActiveUsers: 7, Latency: h.Wire(), Service: h.Wire(),
				Statuses: []message.StatusCount{{Status: 200, Count: uint64(i + 1)}},
			},
		})
	}
	return rows
}

// tryMax is how long one try of a test lasts.
const tryMax = 300 * time.Millisecond

// played is what became of rows.
type played struct {
	delivered, rejected, twice int
	why                        string
}

// play delivers rows as the shell does, without its waits: again after Again and Unclear, in halves after Smaller.
func play(t testing.TB, s outputs.Sink, rows []outputs.Row, tries int) (sum played) {
	t.Helper()
	unclear := false
	for try := 1; try <= tries; try++ {
		ctx, cancel := context.WithTimeout(context.Background(), tryMax)
		out := s.Deliver(ctx, outputs.Batch{Number: 1, Try: try, Rows: rows})
		cancel()
		switch out.Verdict {
		case outputs.VerdictDelivered, outputs.VerdictRejected:
			sum.why, sum.delivered = out.Why, len(rows)
			if out.Verdict == outputs.VerdictRejected {
				if sum.rejected = len(out.Rows); out.Rows == nil {
					sum.rejected = len(rows)
				}
				sum.delivered -= sum.rejected
			}
			if unclear {
				sum.twice = len(rows)
			}
			return sum
		case outputs.VerdictSmaller:
			half := len(rows) / 2
			a, b := play(t, s, rows[:half], tries), play(t, s, rows[half:], tries)
			return played{a.delivered + b.delivered, a.rejected + b.rejected, a.twice + b.twice, a.why + b.why}
		case outputs.VerdictUnclear:
			unclear = true
		case outputs.VerdictAgain, outputs.VerdictDenied, outputs.VerdictNone:
		}
		sum.why = out.Why
	}
	return sum
}
