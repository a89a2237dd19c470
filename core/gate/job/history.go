package job

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds are the settings of a history.
type Bounds struct {
	Results, ResultBytes int
	Letters, LetterBytes int
}

// History holds the jobs that have ended, oldest end first, the results of some of them, and the
// dead letters, within bounds.
type History struct {
	bounds Bounds

	ended   []*Job // that are no dead letters
	letters []*Job
	kept    int    // bytes of the letters' programs
	results []*Job // jobs whose result the gate keeps
	sum     int    // their size in bytes
}

// NewHistory returns an empty history.
func NewHistory(b Bounds) *History { return &History{bounds: b} }

// Len counts the jobs.
func (h *History) Len() int { return len(h.ended) + len(h.letters) }

// Letters counts the dead letters, and the bytes of their programs.
func (h *History) Letters() (n, bytes int) { return len(h.letters), h.kept }

// Add adds a job that has ended.
func (h *History) Add(j *Job) {
	if j.Letter.Is() {
		h.letters = append(h.letters, j)
		h.kept += int(j.Letter.Bytes)
	} else {
		h.ended = append(h.ended, j)
	}
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
	for _, list := range [][]*Job{h.ended, h.letters, h.results} {
		slices.SortStableFunc(list, byEnd)
	}
}

// Oldest is the job that makes room for another one, or nil: the one that ended first, but a dead
// letter only if letters are more than half of what has ended.
func (h *History) Oldest() *Job {
	if len(h.letters) > len(h.ended) {
		return h.letters[0]
	}
	return first(h.ended)
}

// Outlived is the job that ended first among those whose age is over, or nil. Dead letters have
// an age of their own.
func (h *History) Outlived(now node.Instant, age, letterAge time.Duration) *Job {
	if j := first(h.ended); j != nil && now.Sub(j.Ended) >= age {
		return j
	}
	if j := first(h.letters); j != nil && now.Sub(j.Ended) >= letterAge {
		return j
	}
	return nil
}

// Since returns the jobs that ended less than so long ago, the newest end first.
func (h *History) Since(now node.Instant, age time.Duration) (all []*Job) {
	for _, list := range [][]*Job{h.ended, h.letters} {
		for _, j := range slices.Backward(list) {
			if now.Sub(j.Ended) >= age {
				break
			}
			all = append(all, j)
		}
	}
	slices.SortFunc(all, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(b.Ended, a.Ended), cmp.Compare(b.Turn.Number, a.Turn.Number), a.ID.Compare(b.ID))
	})
	return all
}

// Letter is the oldest dead letter, or nil.
func (h *History) Letter() *Job { return first(h.letters) }

// Surplus is the oldest dead letter if the letters exceed their bounds, or nil.
func (h *History) Surplus() *Job {
	if len(h.letters) <= h.bounds.Letters && h.kept <= h.bounds.LetterBytes {
		return nil
	}
	return first(h.letters)
}

func first(list []*Job) *Job {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// Excess is the job whose result leaves if the results exceed the bounds, or nil: the oldest of those
// that watchers have been sent. A client that an overloaded gate has put off still finds its result. The
// newer half stays in any case: results that no client ever asks for do not drive it out.
func (h *History) Excess() *Job {
	if len(h.results) == 0 || len(h.results) <= h.bounds.Results && h.sum <= h.bounds.ResultBytes {
		return nil
	}
	older := h.results[:(len(h.results)+1)/2]
	return older[max(0, slices.IndexFunc(older, func(j *Job) bool { return j.Sent }))]
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
	for j := first(h.results); j != nil && now.Sub(j.Ended) >= age; j = first(h.results) {
		h.ForgetResult(j)
	}
}

// Remove forgets a job.
func (h *History) Remove(j *Job) {
	h.ForgetResult(j)
	if !j.Letter.Is() {
		h.ended = without(h.ended, j)
	} else if slices.Contains(h.letters, j) {
		h.letters = without(h.letters, j)
		h.kept -= int(j.Letter.Bytes)
	}
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
	tell("gate/ended", h.Len(), jobs)
	tell("gate/results", len(h.results), h.bounds.Results)
	tell("gate/result bytes", h.sum, h.bounds.ResultBytes)
	tell("gate/letters", len(h.letters), h.bounds.Letters)
	tell("gate/letter bytes", h.kept, h.bounds.LetterBytes)
}

// Rests reports the results and bytes that no job names; the arguments count those that jobs
// name.
func (h *History) Rests(tell node.Tell, results, bytes int) {
	tell("gate/results that no job names", node.Leak(len(h.results), results), 0)
	tell("gate/result bytes that no job names", node.Leak(h.sum, bytes), 0)
}
