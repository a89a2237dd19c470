package subjob

import (
	"math"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Sum adds up the figures of a workflow's shards, as many at a time as its owner likes. The zero value
// is empty and ready. The shards must not change meanwhile: they have ended, or are a Frozen subjob's.
type Sum struct {
	next  int // shard
	parts []*message.Stats
	total stats.Total
	err   error
}

// Add adds the next shards until their figures fill so many bytes of messages, at least one if there is room
// for a byte. It returns what is left of the room, which may be less than nothing.
func (s *Sum) Add(f *Workflow, room int) (left int) {
	for ; s.next < len(f.Shards) && room > 0; s.next++ {
		for _, part := range f.Shards[s.next].Parts() {
			room -= stats.SizeOf(part)
			s.parts = append(s.parts, part)
			if s.err == nil {
				s.err = s.total.Add(part)
			}
		}
	}
	return room
}

// Done says that all shards of the workflow are added.
func (s *Sum) Done(f *Workflow) bool { return s.next == len(f.Shards) }

// Stats returns the sum. An error says why figures do not belong together.
func (s *Sum) Stats() (sum message.Stats, err error) {
	if s.err == nil {
		sum = s.total.Stats()
	}
	sum.Gap = stats.Gap(s.parts)
	return sum, s.err
}

// Total sums the figures of a workflow's shards, at once.
func (f *Workflow) Total() (message.Stats, error) {
	var s Sum
	s.Add(f, math.MaxInt)
	return s.Stats()
}

// Frozen returns a copy that keeps what figures follow from, whatever becomes of the subjob. It shares with it
// what never changes: messages, plans, and attempts whose loss is recorded.
func (p *Subjob) Frozen() *Subjob {
	copied := *p
	copied.Workflows = make([]*Workflow, len(p.Workflows))
	for i, f := range p.Workflows {
		flow, shards := *f, make([]Shard, len(f.Shards))
		flow.Subjob, flow.Shards = &copied, make([]*Shard, len(f.Shards))
		for k, s := range f.Shards {
			shards[k] = *s
			one := &shards[k]
			one.Workflow, one.Lost = &flow, slices.Clip(s.Lost)
			if s.Losing != nil {
				losing := *s.Losing // it may still lose its report
				one.Losing = &losing
			}
			flow.Shards[k] = one
		}
		copied.Workflows[i] = &flow
	}
	return &copied
}
