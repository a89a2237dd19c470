package outputs

import (
	"fmt"
	"testing"

	"hyperscale/core/message"
)

// A full queue whose rows have no neighbours loses the oldest, some at a time: it does not look at all rows for each one.
func TestAFullQueueLosesSomeAtATime(t *testing.T) {
	var q queue
	var told Report
	losses := 0
	for i := range 20_000 {
		before := told.Lost
		q.add(Row{Kind: RowWindow, Job: "j", Workflow: "w", Step: fmt.Sprint("step ", i), StepKind: message.StepRequest, Figures: &Figures{Begun: 1}}, &told)
		if told.Lost > before {
			losses++
		}
		if q.bytes > QueueMax {
			t.Fatalf("%d bytes wait", q.bytes)
		}
	}
	if told.Lost == 0 || int(told.Lost)+q.len() != 20_000 || losses > 8 {
		t.Errorf("%d rows were lost at %d times, %d wait", told.Lost, losses, q.len())
	}
}
