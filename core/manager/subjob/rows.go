package subjob

import (
	"cmp"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/workflow/feed"
)

// Leased is the last block of rows, or of a counter's values, that an executor got.
type Leased struct {
	Ask          uint64
	First, Count uint64
	Known        bool // a majority has it

	unknown record.Unknown // fields of a newer version, from the record
}

// Lessee names what an executor leases: rows of the workflow's feed, or values of a counter. Of
// waits Of is a barrier of the plan, from 1.
type Lessee struct {
	Of   uint32 // zero: the feed; else a counter of the plan, from 1
	Core uint32
}

// ByOf orders lessees.
func ByOf(a, b Lessee) int { return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Core, b.Core)) }

// Counter is a counter of the job in this datacenter. All workflows share it, so it is the
// subjob's.
type Counter struct {
	Leased uint64 // values

	unknown record.Unknown // fields of a newer version, from the record
}

// RowLease holds what the current attempt of a shard has leased.
type RowLease struct {
	Leased uint64             // rows of its feed
	Rows   map[Lessee]*Leased // the newest block
	Waits  map[Lessee]*Waits  // at barriers
}

// Leases says whether a shard's workflow can lease that at all.
func (s *Shard) Leases(to Lessee) bool {
	p := s.Workflow.Subjob.Dispatch
	if to.Of > 0 {
		return uint64(to.Of) <= uint64(len(p.Plan.Counters)) && to.Core < AsksMax
	}
	return s.Workflow.Plan.Feed.Unique && s.Workflow.Plan.Feed.Rows > 0 && to.Core < AsksMax
}

// Lease answers a new request with the next block: from the share of this datacenter, of which
// none is leased twice. Count 0 says that none is left.
func (s *Shard) Lease(to Lessee, ask, want uint64) *Leased {
	f := s.Workflow
	p := f.Subjob
	l := &Leased{Ask: ask}
	all, leased, cores := f.Plan.Feed.Rows, &f.Leased, f.Cores()
	if to.Of > 0 {
		for len(p.Counters) < int(to.Of) {
			p.Counters = append(p.Counters, Counter{})
		}
		all, leased, cores = p.Dispatch.Plan.Counters[to.Of-1].Most, &p.Counters[to.Of-1].Leased, p.cores()
	}
	first, end := feed.Cut(p.Dispatch.Rows, all)
	l.First = first + *leased
	if left := end - min(end, l.First); left > 0 {
		l.Count = feed.Block(left, want, cores)
	}
	*leased += l.Count
	if to.Of == 0 {
		s.Leased += l.Count
	}
	if s.Rows == nil {
		s.Rows = map[Lessee]*Leased{}
	}
	s.Rows[to] = l
	return l
}

// cores counts the executors that share the rest of a counter.
func (p *Subjob) cores() (n uint64) {
	for _, f := range p.Workflows {
		if f.End == message.WorkflowNone {
			n += f.Cores()
		}
	}
	return n
}

// AsksMax bounds the executors of a shard that can lease rows.
const AsksMax = 1 << 12

// Cores counts the executors that share the remaining rows.
func (f *Workflow) Cores() (n uint64) {
	for _, s := range f.Shards {
		n += uint64(s.Cores)
	}
	return n
}

// Burn drops what a lost attempt had, but for the rows that its figures count as taken: no node
// knows which of the rest it used. Values of counters are never leased again either.
func (s *Shard) Burn(taken uint64) {
	s.Workflow.Burned += s.Leased - min(s.Leased, taken)
	s.Leased, s.Rows, s.Waits = 0, nil, nil
}
