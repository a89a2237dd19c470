package job

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// History holds the jobs that have ended, oldest end first, and the results of some of them,
// within bounds.
type History struct {
	resultsMax, bytesMax int

	ended   []*Job
	results []*Job // of ended: jobs whose result the gate keeps
	sum     int    // their size in bytes
}

// NewHistory returns an empty history with a bound on results and on their bytes.
func NewHistory(results, bytes int) *History { return &History{resultsMax: results, bytesMax: bytes} }

// Len counts the jobs.
func (h *History) Len() int { return len(h.ended) }

// Add adds a job that has ended.
func (h *History) Add(j *Job) {
	h.ended = append(h.ended, j)
	if j.ResultFile != (message.FileDigest{}) {
		h.results = append(h.results, j)
		h.sum += j.ResultBytes
	}
}

// Sort puts the jobs into the order of their ends, then of their acceptance.
func (h *History) Sort() {
	byEnd := func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.Ended, b.Ended), cmp.Compare(a.Turn.Number, b.Turn.Number), a.ID.Compare(b.ID))
	}
	slices.SortStableFunc(h.ended, byEnd)
	slices.SortStableFunc(h.results, byEnd)
}

// Oldest is the job that ended first, or nil.
func (h *History) Oldest() *Job {
	if len(h.ended) == 0 {
		return nil
	}
	return h.ended[0]
}

// Excess is the job with the oldest result if the results exceed the bounds, or nil.
func (h *History) Excess() *Job {
	if len(h.results) == 0 || len(h.results) <= h.resultsMax && h.sum <= h.bytesMax {
		return nil
	}
	return h.results[0]
}

// ForgetResult drops a job's result and keeps its state and key.
func (h *History) ForgetResult(j *Job) {
	if j.ResultFile == (message.FileDigest{}) {
		return
	}
	if slices.Contains(h.results, j) { // most often the first
		h.results = without(h.results, j)
		h.sum -= j.ResultBytes
	}
	j.Result, j.ResultFile = nil, message.FileDigest{}
}

// Age drops the results of jobs that ended at least so long ago.
func (h *History) Age(now node.Instant, age time.Duration) {
	for _, j := range h.ended {
		if now.Sub(j.Ended) < age {
			return
		}
		h.ForgetResult(j)
	}
}

// Remove forgets a job.
func (h *History) Remove(j *Job) {
	h.ForgetResult(j)
	h.ended = without(h.ended, j)
}

// without takes a job out of a list. To take the first one out moves no other.
func without(list []*Job, j *Job) []*Job {
	switch at := slices.Index(list, j); at {
	case -1:
		return list
	case 0:
		list[0] = nil
		return list[1:]
	default:
		return slices.Delete(list, at, at+1)
	}
}

// Sizes reports the ledgers next to their bounds; jobs is the bound on all jobs.
func (h *History) Sizes(tell node.Tell, jobs int) {
	tell("gate/ended", len(h.ended), jobs)
	tell("gate/results", len(h.results), h.resultsMax)
	tell("gate/result bytes", h.sum, h.bytesMax)
}

// Rests reports the results and bytes that no job names; the arguments count those that jobs
// name.
func (h *History) Rests(tell node.Tell, results, bytes int) {
	tell("gate/results that no job names", node.Leak(len(h.results), results), 0)
	tell("gate/result bytes that no job names", node.Leak(h.sum, bytes), 0)
}
