package listing

import (
	"cmp"
	"slices"

	"hyperscale/core/message"
)

// Merge returns what two gates together tell of one job.
func Merge(a, b *message.JobInfo) message.JobInfo {
	newer := *a
	if compare(a, b) < 0 {
		newer = *b
	}
	newer.Age = max(a.Age, b.Age) // each gate tells a lower bound
	return newer
}

// compare is negative if b tells more of the job's state than a. It is total, so that the order
// of merges does not matter.
func compare(a, b *message.JobInfo) int {
	return cmp.Or(
		compareBool(a.Source == message.SourceEnd, b.Source == message.SourceEnd),
		a.Token.Compare(b.Token),
		cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.State, b.State),
		compareBool(a.Counted, b.Counted), cmp.Compare(a.Started, b.Started), cmp.Compare(a.Failed, b.Failed),
		compareBool(a.Ranked, b.Ranked), cmp.Compare(a.Rank, b.Rank),
		cmp.Compare(a.Position, b.Position), cmp.Compare(a.Name, b.Name), slices.Compare(a.Datacenters, b.Datacenters),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// newestFirst orders jobs for people.
func newestFirst(a, b message.JobInfo) int {
	return cmp.Or(cmp.Compare(a.Age, b.Age), a.Job.Compare(b.Job))
}
