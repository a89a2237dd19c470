package subjob

import (
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Losses spend the budgets of their shard, of its workflow and of its job, and each budget ends at its
// bound, whichever holders recorded the losses. Refusals spend the dispatches of a shard alone.
func TestBudgetsAreSpentByLossesOverAllHolders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budgets{
			Shard: rapid.IntRange(1, 4).Draw(t, "shard"), Workflow: rapid.IntRange(1, 6).Draw(t, "workflow"),
			Job: rapid.IntRange(1, 9).Draw(t, "job"), Dispatches: 1 << 20,
		}
		now := node.Instant(1 << 40)
		p := &Subjob{Accepted: now}
		for w := range rapid.IntRange(1, 3).Draw(t, "workflows") {
			f := &Workflow{Subjob: p, Index: uint32(w)}
			for i := range rapid.IntRange(1, 40).Draw(t, "shards") {
				f.Shards = append(f.Shards, &Shard{Workflow: f, ID: message.ShardID{Workflow: uint32(w), Ordinal: uint32(i)}})
			}
			p.Workflows = append(p.Workflows, f)
		}
		byShard, byWorkflow, all, shards := map[message.ShardID]int{}, map[uint32]int{}, 0, 0
		for _, f := range p.Workflows {
			shards += len(f.Shards)
		}
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			f := p.Workflows[rapid.IntRange(0, len(p.Workflows)-1).Draw(t, "of")]
			s := f.Shards[rapid.IntRange(0, len(f.Shards)-1).Draw(t, "which")]
			switch rapid.SampledFrom([]string{"loss", "loss", "refusal", "take-over"}).Draw(t, "event") {
			case "refusal":
				s.Dispatches++
			case "take-over":
				next, err := Decode(p.Job, p.Record(now), now)
				if err != nil {
					t.Fatal(err)
				}
				p = next
				continue
			case "loss":
				s.Dispatches++
				s.Reruns++
				byShard[s.ID]++
				byWorkflow[f.Index]++
				all++
			}
			want, lost, most := BudgetNone, 0, 0
			switch {
			case byShard[s.ID] > b.Shard:
				want, lost, most = BudgetShard, byShard[s.ID], b.Shard
			case byWorkflow[f.Index] > max(b.Workflow, len(f.Shards)/10):
				want, lost, most = BudgetWorkflow, byWorkflow[f.Index], max(b.Workflow, len(f.Shards)/10)
			case all > max(b.Job, shards/10):
				want, lost, most = BudgetJob, all, max(b.Job, shards/10)
			}
			if got, n, of := b.Spent(s); got != want || n != lost || of != most {
				t.Fatalf("%+v: %v lost %d, its workflow %d, its job %d: got %v, %d of %d, want %v, %d of %d", b, s.ID, byShard[s.ID], byWorkflow[f.Index], all, got, n, of, want, lost, most)
			}
		}
	})
}
