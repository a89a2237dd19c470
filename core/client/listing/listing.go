package listing

import (
	"errors"
	"maps"
	"slices"

	"hyperscale/core/message"
)

// Listing is the merged list of the gates that were asked so far.
type Listing struct {
	most    int
	after   message.JobID // the last job of the newest page of the gate that is asked now
	jobs    map[message.JobID]message.JobInfo
	letters map[message.JobID]message.LetterInfo // of jobs
	whole   map[string]string                    // the gates that listed all their jobs: name by address
	cut     bool
}

// New returns a list of at most most jobs.
func New(most int) *Listing {
	return &Listing{most: most, jobs: map[message.JobID]message.JobInfo{}, letters: map[message.JobID]message.LetterInfo{}, whole: map[string]string{}}
}

// Begin starts with the first page of another gate.
func (l *Listing) Begin() { l.after = message.JobID{} }

// After returns the last job that the gate has listed.
func (l *Listing) After() message.JobID { return l.after }

var errPage = errors.New("its page of jobs is out of order")

// Page adds a gate's next page, and says whether another one follows. It rejects a page that
// does not continue the last one: a gate could go on for ever.
func (l *Listing) Page(p *message.JobList) (more bool, err error) {
	last := l.after
	for i := range p.Jobs {
		if p.Jobs[i].Job.Compare(last) <= 0 {
			return false, errPage
		}
		last = p.Jobs[i].Job
	}
	if p.More && last == l.after {
		return false, errPage
	}
	for i := range p.Jobs {
		l.add(&p.Jobs[i])
	}
	for i := range p.Letters {
		l.addLetter(&p.Letters[i])
	}
	if l.after = last; p.More && !l.cut {
		return true, nil
	}
	l.whole[p.Addr] = p.Gate
	return false, nil
}

func (l *Listing) add(info *message.JobInfo) {
	had, ok := l.jobs[info.Job]
	switch {
	case ok:
		l.jobs[info.Job] = Merge(&had, info)
	case len(l.jobs) < l.most:
		l.jobs[info.Job] = *info
	default:
		l.cut = true
	}
}

// addLetter adds a dead letter whose job is listed. All gates tell the same of it, but for its age,
// of which each tells a lower bound.
func (l *Listing) addLetter(info *message.LetterInfo) {
	if _, listed := l.jobs[info.Job]; !listed {
		return
	}
	newer := *info
	if had, ok := l.letters[info.Job]; ok {
		newer.Ended = max(newer.Ended, had.Ended)
	}
	l.letters[info.Job] = newer
}

// Letters returns the dead letters among the jobs, in the order of their jobs.
func (l *Listing) Letters() []message.LetterInfo {
	return slices.SortedFunc(maps.Values(l.letters), func(a, b message.LetterInfo) int { return a.Job.Compare(b.Job) })
}

// Heard says whether a gate has listed all its jobs.
func (l *Listing) Heard() bool { return len(l.whole) > 0 }

// Gate returns the name of a gate that has listed all its jobs.
func (l *Listing) Gate(addr string) (name string, whole bool) {
	name, whole = l.whole[addr]
	return name, whole
}

// Len counts the jobs.
func (l *Listing) Len() int { return len(l.jobs) }

// Jobs returns all jobs, the newest first, and whether there are more than the bound.
func (l *Listing) Jobs() (jobs []message.JobInfo, cut bool) {
	return slices.SortedFunc(maps.Values(l.jobs), newestFirst), l.cut
}
