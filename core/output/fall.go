package output

import (
	"cmp"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// patience is for how many boundaries a row waits for distributions that lack values: a new manager hears of its
// workers within seconds, and a report that lost precision never has them again.
const patience = 3

// next returns what happened since the last report of a step that a row tells of: more, and less if figures have
// gone for good. Nil means nothing. It returns false if the report lacks figures that may return.
func (s *series) next(now *message.StepStats, gone, blunt bool) (more, less *Figures, ok bool) {
	base := &s.base
	if now == nil {
		now = &message.StepStats{}
	}
	falls := falls(now, base)
	if falls && !gone {
		return nil, nil, false
	}
	more = figuresOf(now, base)
	since(more, now, base, falls, blunt)
	if s.waited++; more.Blunt && !blunt && !gone && s.waited <= patience {
		return nil, nil, false
	}
	s.waited = 0
	if falls {
		less = figuresOf(base, now)
		since(less, base, now, falls, blunt)
		if empty(less) {
			less = nil
		}
	}
	if empty(more) {
		more = nil
	}
	return more, less, true
}

// counts are those of a step, in the order of Figures.
func counts(s *message.StepStats) [9]uint64 {
	return [...]uint64{s.Started, s.OK, s.Failed, s.TimedOut, s.Cancelled, s.Dropped, s.Skipped, s.BytesIn, s.BytesOut}
}

// falls says that a count is smaller than it was.
func falls(now, base *message.StepStats) bool {
	is, was := counts(now), counts(base)
	for i := range is {
		if is[i] < was[i] {
			return true
		}
	}
	return len(statuses(base, now)) > 0 || len(failures(base, now)) > 0
}

// figuresOf is what the counts of now have above those of base.
func figuresOf(now, base *message.StepStats) *Figures {
	n, b := counts(now), counts(base)
	for i := range n {
		n[i] -= min(n[i], b[i])
	}
	return &Figures{
		Begun: n[0], OK: n[1], Failed: n[2], TimedOut: n[3], Cancelled: n[4], Dropped: n[5], Skipped: n[6], BytesIn: n[7], BytesOut: n[8],
		Statuses: statuses(now, base), Errors: failures(now, base),
	}
}

// since adds the distributions of what happened between. Without a fall they grow, bucket by bucket, unless a report
// lost precision to fit a frame, or the ledger keeps counts alone: then the row is blunt.
func since(f *Figures, now, base *message.StepStats, falls, blunt bool) {
	if blunt {
		f.Blunt = !empty(f)
		return
	}
	latency, fits := above(now.Latency, base.Latency, falls)
	service, also := above(now.Service, base.Service, falls)
	if f.Blunt = !fits || !also; !f.Blunt {
		f.Latency, f.Service = latency, service
	}
}

// above is what a distribution has above an earlier one, by buckets. It returns false if that is unknown.
func above(now, base message.Histogram, falls bool) (message.Histogram, bool) {
	if base.Count == 0 {
		return now, true
	}
	more, err := stats.Subtract(now, base)
	if err != nil || !falls && more.Count != now.Count-min(now.Count, base.Count) {
		return message.Histogram{}, false
	}
	return more, true
}

func statuses(now, base *message.StepStats) (more []message.StatusCount) {
	for i, c := range now.Statuses {
		if at := find(base.Statuses, i, func(b message.StatusCount) int { return cmp.Compare(b.Status, c.Status) }); at >= 0 {
			c.Count -= min(c.Count, base.Statuses[at].Count)
		}
		if c.Count > 0 {
			more = append(more, message.StatusCount{Status: c.Status, Count: c.Count})
		}
	}
	return more
}

func failures(now, base *message.StepStats) (more []message.ErrorCount) {
	for i, c := range now.Errors {
		if at := find(base.Errors, i, func(b message.ErrorCount) int { return cmp.Compare(b.Kind, c.Kind) }); at >= 0 {
			c.Count -= min(c.Count, base.Errors[at].Count)
		}
		if c.Count > 0 {
			more = append(more, message.ErrorCount{Kind: c.Kind, Count: c.Count})
		}
	}
	return more
}

// find is the index in an ascending list of what compares as equal; -1: there is none. Two reports of a step mostly have
// it in the same place.
func find[T any](list []T, guess int, compare func(T) int) int {
	if guess < len(list) && compare(list[guess]) == 0 {
		return guess
	}
	at, found := slices.BinarySearchFunc(list, compare, func(one T, compare func(T) int) int { return compare(one) })
	if !found {
		return -1
	}
	return at
}

func empty(f *Figures) bool {
	return !f.Blunt && f.Begun|f.OK|f.Failed|f.TimedOut|f.Cancelled|f.Dropped|f.Skipped|f.BytesIn|f.BytesOut|f.Latency.Count == 0 && len(f.Statuses) == 0 && len(f.Errors) == 0
}
