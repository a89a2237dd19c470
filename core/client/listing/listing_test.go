package listing_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/client/listing"
	"hyperscale/core/message"
)

// line draws what a gate may tell of a job.
func line(t *rapid.T, id byte) message.JobInfo {
	state := rapid.SampledFrom([]message.JobState{message.JobQueued, message.JobRunning, message.JobCancelling, message.JobCompleted, message.JobCancelled}).Draw(t, "state")
	held, source := rapid.Bool().Draw(t, "held"), message.SourceRecord
	switch {
	case held && !state.Terminal():
		source = message.SourceOwner
	case held:
		source = message.SourceEnd
	}
	return message.JobInfo{
		Job: message.JobID{id}, Name: fmt.Sprint("job ", id), State: state, Position: rapid.Uint32Range(0, 1).Draw(t, "position"),
		Age:    time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Second,
		Token:  message.LeaseToken{Epoch: rapid.Uint64Range(1, 2).Draw(t, "epoch"), Ordinal: rapid.Uint32Range(1, 2).Draw(t, "ordinal")},
		Source: source,
		Ranked: held, Rank: message.Rank(rapid.IntRange(0, 1).Draw(t, "rank")),
		Datacenters: rapid.SampledFrom([][]string{nil, {"a"}, {"a", "b"}}).Draw(t, "in"),
		Counted:     held, Started: rapid.Uint64Range(0, 2).Draw(t, "started"),
	}
}

// gate draws the pages of one gate.
func gate(t *rapid.T, n int) (pages []*message.JobList) {
	page := func() *message.JobList {
		return &message.JobList{Gate: fmt.Sprint("g", n), Addr: fmt.Sprintf("g%d:1", n), More: true}
	}
	pages = []*message.JobList{page()}
	for id := byte(1); id <= 6; id++ {
		if !rapid.Bool().Draw(t, "knows it") {
			continue
		}
		newest := pages[len(pages)-1]
		if len(newest.Jobs) > 0 && rapid.IntRange(0, 2).Draw(t, "page ends") == 0 {
			newest = page()
			pages = append(pages, newest)
		}
		newest.Jobs = append(newest.Jobs, line(t, id))
		if rapid.IntRange(0, 2).Draw(t, "dead") == 0 {
			newest.Letters = append(newest.Letters, message.LetterInfo{Job: message.JobID{id}, Key: fmt.Sprint("key ", id), Ended: time.Duration(rapid.IntRange(0, 3).Draw(t, "ended")) * time.Second})
		}
	}
	pages[len(pages)-1].More = false
	return pages
}

// letters are those of all gates, each with its highest age.
func letters(gates [][]*message.JobList) (all []message.LetterInfo) {
	best := map[message.JobID]message.LetterInfo{}
	for _, pages := range gates {
		for _, p := range pages {
			for _, d := range p.Letters {
				if had, ok := best[d.Job]; !ok || had.Ended < d.Ended {
					best[d.Job] = d
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b message.LetterInfo) int { return a.Job.Compare(b.Job) })
}

func merged(t *rapid.T, gates [][]*message.JobList) []message.JobInfo {
	l := listing.New(100)
	for _, pages := range gates {
		l.Begin()
		for i, p := range pages {
			if more, err := l.Page(p); err != nil || more != (i < len(pages)-1) {
				t.Fatalf("page %d of %d: more %v, %v", i+1, len(pages), more, err)
			}
		}
		if name, whole := l.Gate(pages[0].Addr); !whole || name != pages[0].Gate {
			t.Fatalf("%s has listed all its jobs, and does not count: %q, %v", pages[0].Gate, name, whole)
		}
	}
	jobs, cut := l.Jobs()
	if diff := cmp.Diff(letters(gates), l.Letters()); diff != "" {
		t.Fatalf("dead letters (-want +got):\n%s", diff)
	}
	if cut || len(jobs) != l.Len() {
		t.Fatalf("%d jobs of %d, cut %v", len(jobs), l.Len(), cut)
	}
	return jobs
}

// TestOrderOfGatesDoesNotMatter: lists of any gates, in any order, some of them twice, merge to
// the same list. It has each job that a gate lists, once, the newest first. It takes no line but
// a gate's, except for the age, and the end of a job wins over everything.
func TestOrderOfGatesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var gates [][]*message.JobList
		told := map[message.JobID][]message.JobInfo{}
		for n := range rapid.IntRange(1, 4).Draw(rt, "gates") {
			gates = append(gates, gate(rt, n))
			for _, p := range gates[n] {
				for _, j := range p.Jobs {
					told[j.Job] = append(told[j.Job], j)
				}
			}
		}
		want := merged(rt, gates)
		other := rapid.Permutation(append(slices.Clone(gates), gates[0])).Draw(rt, "order")
		if diff := cmp.Diff(want, merged(rt, other)); diff != "" {
			rt.Fatalf("another order (-one +other):\n%s", diff)
		}
		if len(want) != len(told) {
			rt.Fatalf("%d jobs are listed, and gates told of %d", len(want), len(told))
		}
		for i, j := range want {
			if i > 0 && j.Age < want[i-1].Age {
				rt.Fatalf("job %d is %v old, the one before it %v", i, j.Age, want[i-1].Age)
			}
			check(rt, j, told[j.Job])
		}
	})
}

// check judges one merged line by all that gates told of the job.
func check(t *rapid.T, got message.JobInfo, told []message.JobInfo) {
	found, ended := false, false
	var token message.LeaseToken
	for _, o := range told {
		if ended = ended || o.Source == message.SourceEnd; token.Less(o.Token) {
			token = o.Token
		}
		if got.Age < o.Age {
			t.Fatalf("job %v is %v old, and a gate knows that it is %v", got.Job, got.Age, o.Age)
		}
		same := o
		same.Age = got.Age
		found = found || cmp.Equal(same, got)
	}
	switch {
	case !found:
		t.Fatalf("no gate told %+v", got)
	case (got.Source == message.SourceEnd) != ended:
		t.Fatalf("job %v is known from its %v, and it has ended: %v", got.Job, got.Source, ended)
	case !ended && got.Token != token:
		t.Fatalf("job %v is listed under token %v, and %v is newer", got.Job, got.Token, token)
	}
	for _, o := range told {
		if !ended && got.Source != message.SourceOwner && o.Source == message.SourceOwner && o.Token == token {
			t.Fatalf("job %v: its owner's line is not taken", got.Job)
		}
	}
}

// TestPagesFollowEachOther: a gate that repeats a job, goes back, or promises more without a job
// does not count, and its page changes nothing.
func TestPagesFollowEachOther(t *testing.T) {
	a, b, c := message.JobInfo{Job: message.JobID{1}}, message.JobInfo{Job: message.JobID{2}}, message.JobInfo{Job: message.JobID{3}}
	for _, x := range []struct {
		what string
		page *message.JobList
	}{
		{"repeats the last job", &message.JobList{Addr: "g", Jobs: []message.JobInfo{b, c}}},
		{"goes back", &message.JobList{Addr: "g", Jobs: []message.JobInfo{a}}},
		{"is not in order", &message.JobList{Addr: "g", Jobs: []message.JobInfo{c, c}}},
		{"promises more", &message.JobList{Addr: "g", More: true}},
	} {
		l := listing.New(10)
		if more, err := l.Page(&message.JobList{Addr: "g", Jobs: []message.JobInfo{b}, More: true}); !more || err != nil || l.After() != b.Job {
			t.Fatalf("a good page: more %v, %v", more, err)
		}
		more, err := l.Page(x.page)
		if _, whole := l.Gate("g"); more || err == nil || whole || l.Len() != 1 {
			t.Errorf("a page that %s: more %v, %v, whole %v, %d jobs", x.what, more, err, whole, l.Len())
		}
	}
}

// TestListIsBounded: a list keeps as many jobs as its bound, says that there are more, and asks
// for no further page.
func TestListIsBounded(t *testing.T) {
	l := listing.New(2)
	more, err := l.Page(&message.JobList{Addr: "g", More: true, Jobs: []message.JobInfo{{Job: message.JobID{1}}, {Job: message.JobID{2}}, {Job: message.JobID{3}}}})
	if jobs, cut := l.Jobs(); more || err != nil || len(jobs) != 2 || !cut {
		t.Errorf("%d jobs, cut %v, more %v, %v", len(jobs), cut, more, err)
	}
	l.Begin()
	if more, err = l.Page(&message.JobList{Addr: "h", Jobs: []message.JobInfo{{Job: message.JobID{2}, Name: "known"}}}); more || err != nil {
		t.Errorf("more %v, %v", more, err)
	}
	if jobs, _ := l.Jobs(); !slices.ContainsFunc(jobs, func(j message.JobInfo) bool { return j.Name == "known" }) {
		t.Errorf("a full list takes no news of a job that it has: %+v", jobs)
	}
}
