package subjob

import (
	"cmp"
	"maps"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
)

// Waits are those of one executor at one barrier.
type Waits struct {
	Report        uint64 // the newest one
	Arrived, Left uint64 // by that report
	Released      uint64 // decided
	Known         uint64 // of these, those that a majority knows

	unknown record.Unknown // fields of a newer version, from the record
}

// open counts those that a release may let pass.
func (w *Waits) open() uint64 { return w.Arrived - min(w.Arrived, w.Left+w.Released) }

// Told says that an answer is due: a majority knows all that was released on the reports so far.
func (w *Waits) Told() bool { return w.Known == w.Released }

// Waiting says whether executors of a shard can wait there at all.
func (s *Shard) Waiting(at Lessee) bool {
	return at.Of > 0 && uint64(at.Of) <= uint64(len(s.Workflow.Subjob.Dispatch.Plan.Barriers)) && at.Core < AsksMax
}

// Hear notes a report, and returns what is known of that executor's waits. An older one changes
// nothing.
func (s *Shard) Hear(at Lessee, report, arrived, left uint64) *Waits {
	w := s.Waits[at]
	if w == nil {
		if s.Waits == nil {
			s.Waits = map[Lessee]*Waits{}
		}
		w = &Waits{}
		s.Waits[at] = w
	}
	if report > w.Report {
		w.Report, w.Arrived, w.Left = report, arrived, left
	}
	return w
}

// Pass is what a release lets pass at one executor.
type Pass struct {
	Shard *Shard
	Fence message.Fence // of the attempt
	At    Lessee
	Waits *Waits
	Count uint64 // waits of it, now
	UpTo  uint64 // and in all
}

// Release lets waits at a barrier pass, if as many are open as it wants, and says where. More that
// are open wait for the next ones: those of the executors that passed most. Waits of an attempt
// that is lost, or ends, do not count.
func (p *Subjob) Release(of uint32) (passes []Pass) {
	users := p.Dispatch.Plan.Barriers[of-1].Users
	var sum uint64
	passes = p.waiting(of)
	for i := range passes {
		sum += passes[i].Count
	}
	left := sum - sum%users
	if left == 0 {
		return nil
	}
	slices.SortStableFunc(passes, func(a, b Pass) int { return cmp.Compare(a.Waits.Released, b.Waits.Released) })
	for i := range passes {
		x := &passes[i]
		x.Count = min(left, x.Count)
		left -= x.Count
		x.Waits.Released += x.Count
		x.UpTo = x.Waits.Released
	}
	return slices.DeleteFunc(passes, func(x Pass) bool { return x.Count == 0 })
}

// waiting lists the executors that run and have open waits at a barrier, with their number.
func (p *Subjob) waiting(of uint32) (all []Pass) {
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			if len(s.Waits) == 0 || !s.Live() || s.Commit != Settled {
				continue
			}
			for _, at := range slices.SortedFunc(maps.Keys(s.Waits), ByOf) {
				if w := s.Waits[at]; at.Of == of && w.open() > 0 {
					all = append(all, Pass{Shard: s, Fence: s.Fence, At: at, Waits: w, Count: w.open()})
				}
			}
		}
	}
	return all
}

// Passed notes that a majority knows a release. It says whether the attempt is the one that it was
// decided for.
func (x *Pass) Passed() bool {
	x.Waits.Known = max(x.Waits.Known, x.UpTo)
	return x.Shard.Fence == x.Fence && x.Shard.Waits[x.At] == x.Waits
}

func (s *Shard) waits() (list []record.Waits) {
	for _, at := range slices.SortedFunc(maps.Keys(s.Waits), ByOf) {
		if w := s.Waits[at]; w.Released > 0 {
			list = append(list, record.Waits{Of: at.Of, Core: at.Core, Released: w.Released, Unknown: w.unknown})
		}
	}
	return list
}

// resume takes what is released from a record. How many wait is in the next reports.
func (s *Shard) resume(list []record.Waits) {
	for _, r := range list {
		w := s.Hear(Lessee{Of: r.Of, Core: r.Core}, 0, 0, 0)
		w.Released, w.Known, w.unknown = r.Released, r.Released, r.Unknown
	}
}
