package checker

import (
	"cmp"
	"slices"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
)

// feeds judges the rows of unique feeds, and the values of counters, that workers hand to
// executors (F).
type feeds struct {
	log  *history.Log
	rows map[feedOf][]taken // ascending
}

func newFeeds(log *history.Log) *feeds {
	return &feeds{log: log, rows: map[feedOf][]taken{}}
}

// feedOf is a workflow whose iterations take rows exclusively, or a counter of a job.
type feedOf struct {
	job      message.JobID
	workflow uint32 // zero for a counter: all workflows share it
	of       uint32 // zero: the workflow's feed; else a counter of the plan, from 1
}

// taken is a range of rows, and the first attempt that took it.
type taken struct {
	first, end uint64
	by         event.RowsTaken
}

// take judges F: workers hand no row to executors twice, anywhere.
func (s *feeds) take(r Record, e event.RowsTaken) {
	key := feedOf{e.Shard.Job, e.Shard.Workflow, e.Of}
	if e.Of > 0 {
		key.workflow = 0
	}
	all, end := s.rows[key], e.First+e.Count
	at, _ := slices.BinarySearchFunc(all, e.First, func(t taken, first uint64) int { return cmp.Compare(t.first, first) })
	for _, i := range []int{at - 1, at} {
		if i >= 0 && i < len(all) && all[i].first < end && e.First < all[i].end {
			s.log.Violate("F", r, "rows %d to %d of workflow %d of job %v went to shard %v under %v in %s, of which shard %v under %v in %s has %d to %d",
				e.First, end-1, e.Shard.Workflow, e.Shard.Job, e.Shard, e.Fence, e.Datacenter, all[i].by.Shard, all[i].by.Fence, all[i].by.Datacenter, all[i].first, all[i].end-1)
			return
		}
	}
	if at > 0 && all[at-1].end == e.First { // blocks mostly follow each other
		all[at-1].end = end
		return
	}
	s.rows[key] = slices.Insert(all, at, taken{e.First, end, e})
}
