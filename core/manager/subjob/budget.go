package subjob

import "fmt"

// Budgets bound how often the shards of a subjob run again after losses of their workers. A loss
// spends one of each. A refusal spends none: no load has run. What is spent follows from the record,
// so a take-over neither gives back nor takes anything.
type Budgets struct {
	Shard      int // losses of one shard
	Workflow   int // losses of all shards of a workflow; a tenth of its shards if that is more
	Job        int // losses of all shards of the subjob; a tenth of its shards if that is more
	Dispatches int // of one shard, after refusals as well
}

// Budget is a bound that a loss has spent.
type Budget uint8

// The budgets. A shard without any gets another attempt.
const (
	BudgetNone Budget = iota
	BudgetShard
	BudgetWorkflow
	BudgetJob
)

func (b Budget) String() string {
	names := [...]string{"none", "shard", "workflow", "job"}
	if int(b) < len(names) {
		return names[b]
	}
	return fmt.Sprintf("budget(%d)", uint8(b))
}

// shareOf is the part of the shards that may run again, whatever the settings say: a workflow of
// hundreds of shards loses some workers in any long test.
const shareOf = 10

// Reruns counts the losses of a workflow's shards.
func (f *Workflow) Reruns() (n int) {
	for _, s := range f.Shards {
		n += s.Reruns
	}
	return n
}

// Spent says which budget the losses of a shard have spent, how many losses that were, and how many
// the budget allows.
func (b *Budgets) Spent(s *Shard) (of Budget, lost, most int) {
	f := s.Workflow
	if s.Reruns > b.Shard || s.Dispatches >= b.Dispatches {
		return BudgetShard, s.Reruns, b.Shard
	}
	lost, most = f.Reruns(), max(b.Workflow, len(f.Shards)/shareOf)
	if lost > most {
		return BudgetWorkflow, lost, most
	}
	shards := 0
	lost = 0
	for _, f := range f.Subjob.Workflows {
		lost, shards = lost+f.Reruns(), shards+len(f.Shards)
	}
	if most = max(b.Job, shards/shareOf); lost > most {
		return BudgetJob, lost, most
	}
	return BudgetNone, 0, 0
}
