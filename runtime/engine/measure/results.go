package measure

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// Results counts what the statements of a step bring and change.
type Results struct {
	rows, affected, documents, batches uint64
	transactions                       stats.Histogram
}

// Results returns what counts the account's rows.
func (a *Account) Results() *Results {
	if a.results == nil {
		a.results = new(Results)
	}
	return a.results
}

// Add counts rows that came, and rows that were changed.
func (r *Results) Add(rows, affected uint64) {
	r.rows += rows
	r.affected += affected
}

// Documents counts documents that came, the batches that they came in, and documents that were changed.
func (r *Results) Documents(documents, batches, affected uint64) {
	r.documents += documents
	r.batches += batches
	r.affected += affected
}

// Transacted counts a transaction that ended so long after it began.
func (r *Results) Transacted(after int64) { r.transactions.Record(uint64(max(0, after))) }

// wire appends the measures that happened.
func (r *Results) wire(out message.Measures) message.Measures {
	if r == nil {
		return out
	}
	for _, m := range []message.Measure{
		{Name: plan.MeasureAffected, Count: r.affected}, {Name: plan.MeasureBatches, Count: r.batches}, {Name: plan.MeasureDocuments, Count: r.documents}, {Name: plan.MeasureRows, Count: r.rows},
	} {
		if m.Kind = message.MeasureCount; m.Count > 0 {
			out.List = append(out.List, m)
		}
	}
	if r.transactions.Count() > 0 {
		out.List = append(out.List, message.Measure{Name: plan.MeasureTransactionTime, Kind: message.MeasureTimes, Times: r.transactions.Wire()})
	}
	return out
}
