package outlets

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// slow is a place that lets the first batch wait.
type slow struct {
	tries int
	keys  []string
	jobs  []map[string]bool // of each batch
}

func (s *slow) Check(context.Context) error { return nil }
func (s *slow) Close()                      {}
func (s *slow) Deliver(_ context.Context, b outputs.Batch) outputs.Outcome {
	if s.tries++; s.tries == 1 {
		return outputs.Unclear("it says nothing")
	}
	jobs := map[string]bool{}
	for i := range b.Rows {
		s.keys, jobs[b.Rows[i].Job] = append(s.keys, b.Rows[i].Key()), true
	}
	s.jobs = append(s.jobs, jobs)
	return outputs.Delivered()
}

// Each row keeps its key, though all of them have more bytes than a queue: a place that has them already has nothing twice.
// Rows of two jobs share no batch.
func TestReplayKeepsRowsAsTheyAre(t *testing.T) {
	var h stats.Histogram
	for i := range uint64(2000) {
		h.Record(i * i * 1000)
	}
	var rows []outputs.Row
	var want []string
	for i := range 1500 {
		rows = append(rows, outputs.Row{Kind: outputs.RowWindow, Job: []string{"a", "b"}[i%2], Workflow: "w", Step: "s",
			From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second, Figures: &outputs.Figures{Begun: 1, Latency: h.Wire()}})
		want = append(want, rows[i].Key())
	}
	for delivery, said := range map[outputs.Delivery]string{
		outputs.Exact:       `^1500 rows delivered, 0 rejected, 0 not delivered\n$`,
		outputs.AtLeastOnce: `^1500 rows delivered, 0 rejected, 0 not delivered, [1-9]\d* perhaps twice\n$`,
	} {
		settings, err := outputs.Placed(&outputs.Kind{Name: "slow", Delivery: delivery, Limits: outputs.Limits{Rows: 500}}, "x")
		require.NoError(t, err)
		s := &slow{}
		shell := outputs.NewShell("slow", settings, s, outputstest.Pace())
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetOut(&out)
		require.NoError(t, replay(t.Context(), cmd, shell, rows))
		shell.Close()
		require.Regexp(t, said, out.String())
		slices.Sort(s.keys)
		slices.Sort(want)
		require.Equal(t, want, s.keys)
		for _, jobs := range s.jobs {
			require.Len(t, jobs, 1)
		}
	}
}
