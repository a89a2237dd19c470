package operate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
)

// TestSelectionMeansWhatFitsAll: a selection means the jobs that fit each thing that is set, and
// no other, in the order of the list.
func TestSelectionMeansWhatFitsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []message.JobInfo
		for i := range rapid.IntRange(0, 20).Draw(t, "jobs") {
			jobs = append(jobs, message.JobInfo{
				Job: message.JobID{byte(i)}, Name: rapid.SampledFrom([]string{"", "a", "ab", "nightly a"}).Draw(t, "name"),
				State: message.JobState(rapid.IntRange(0, int(message.JobTimedOut)).Draw(t, "state")), Age: time.Duration(rapid.IntRange(0, 5).Draw(t, "age")) * time.Second,
			})
		}
		s := selection{
			name: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "text"), running: rapid.Bool().Draw(t, "running"),
			youngerThan: time.Duration(rapid.IntRange(0, 5).Draw(t, "since")) * time.Second, olderThan: time.Duration(rapid.IntRange(0, 5).Draw(t, "older")) * time.Second,
		}
		if rapid.Bool().Draw(t, "states") {
			s.states = states{message.JobRunning, message.JobCancelled}
		}
		if s.any() != (s.name != "" || len(s.states) > 0 || s.youngerThan+s.olderThan > 0) {
			t.Fatalf("%+v: any %v", s, s.any())
		}
		got := s.of(jobs)
		for _, j := range jobs {
			fits := strings.Contains(j.Name, s.name) && (s.states == nil || j.State == message.JobRunning || j.State == message.JobCancelled) &&
				(s.youngerThan == 0 || j.Age <= s.youngerThan) && (s.olderThan == 0 || j.Age >= s.olderThan) && (!s.running || !j.State.Terminal())
			if is := len(got) > 0 && got[0].Job == j.Job; is != fits {
				t.Fatalf("%+v of %+v: meant %v, want %v", s, j, is, fits)
			}
			if fits {
				got = got[1:]
			}
		}
		if len(got) > 0 {
			t.Fatalf("%+v means what is not on the list: %+v", s, got)
		}
	})
}

// TestStatesAreNamed: the flag takes names in any case, several times, and rejects others with the
// nearest one.
func TestStatesAreNamed(t *testing.T) {
	var s states
	for _, text := range []string{"running, QUEUED", "TIMED_OUT"} {
		if err := s.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got := s.String(); got != "RUNNING,QUEUED,TIMED_OUT" {
		t.Errorf("got %s", got)
	}
	for text, want := range map[string]string{"RUNING": "did you mean RUNNING?", "": "choose of SUBMITTED, QUEUED", "NONE": "choose of"} { //lint:orderfree each is judged by itself
		if err := s.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestListSaysWhoIsMissing: the head of a list names the gates that did not answer, and warns where
// jobs may be missing; the table marks what no owner confirmed.
func TestListSaysWhoIsMissing(t *testing.T) {
	there, away := message.GateView{Node: "g1", Addr: "g1:1"}, message.GateView{Node: "g2", Addr: "g2:1", Why: "connection reset"}
	unheard := message.GateView{Addr: "g3:1", Why: "not reached"}
	job := message.JobInfo{Name: "a", State: message.JobRunning, Source: message.SourceRecord}
	owned := message.JobInfo{Name: "b\x1b", State: message.JobQueued, Position: 3, Source: message.SourceOwner, Ranked: true, Rank: message.RankLow, Counted: true, Started: 1234}
	for _, x := range []struct {
		what string
		list message.JobList
		left int
		want []string
		not  []string
	}{
		{"one gate", message.JobList{Gates: []message.GateView{there}}, 0, []string{"as the only gate sees it\nno jobs\n"}, []string{"warning"}},
		{"one is away", message.JobList{Gates: []message.GateView{there, away, there}, Jobs: []message.JobInfo{job, owned}}, 2,
			[]string{"as 2 of 3 gates see it\ng2 did not answer: connection reset\n", "RUNNING* ", "* as its record says", "QUEUED (3)  low ", "b·", "1,234", "2 jobs more: raise --limit\n"}, []string{"warning"}},
		{"a majority is away", message.JobList{Gates: []message.GateView{there, away, unheard}, Jobs: []message.JobInfo{owned}}, 0,
			[]string{"as 1 of 3 gates see it\n", "g3:1 did not answer: not reached\n", "warning: fewer than a majority of the gates answered: jobs may be missing\n"}, []string{"* as", "more:"}},
		{"half is away", message.JobList{Gates: []message.GateView{there, away}}, 0, []string{"fewer than a majority"}, nil},
		{"too many", message.JobList{Gates: []message.GateView{there}, Jobs: []message.JobInfo{{}}, More: true}, 0, []string{"more jobs than a list can have", "-* "}, nil},
	} {
		var b bytes.Buffer
		if err := printJobList(&b, &x.list, x.left); err != nil {
			t.Fatal(err)
		}
		for _, want := range x.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", x.what, want, b.String())
			}
		}
		for _, not := range x.not {
			if strings.Contains(b.String(), not) {
				t.Errorf("%s: %q in\n%s", x.what, not, b.String())
			}
		}
	}
}

// TestBulkAsks: without --yes a person at a terminal is asked; only yes goes on. Elsewhere the
// command says what to add.
func TestBulkAsks(t *testing.T) {
	for _, x := range []struct {
		what   string
		b      bulk
		answer string
		code   int // 0: it goes on
		says   string
	}{
		{"yes is given", bulk{yes: true}, "", 0, ""},
		{"no terminal", bulk{}, "y\n", command.ExitUsage, "2 jobs would be cancelled: add --yes"},
		{"a person says y", bulk{person: true}, "y\n", 0, ""},
		{"a person says Yes", bulk{person: true}, "Yes\n", 0, ""},
		{"a person says no", bulk{person: true}, "n\n", command.ExitFailed, "no job is cancelled"},
		{"a person says nothing", bulk{person: true}, "\n", command.ExitFailed, "no job is cancelled"},
		{"the input ends", bulk{person: true}, "", command.ExitFailed, "no job is cancelled"},
	} {
		var notes bytes.Buffer
		x.b.answers, x.b.notes = strings.NewReader(x.answer), &notes
		err := x.b.confirm(context.Background(), 2)
		var exit *command.ExitError
		switch {
		case x.code == 0 && err != nil, x.code != 0 && (!errors.As(err, &exit) || exit.Code != x.code || !strings.Contains(err.Error(), x.says)):
			t.Errorf("%s: got %v, want code %d: %s", x.what, err, x.code, x.says)
		case x.b.person != strings.Contains(notes.String(), "cancel 2 jobs? [y/N]"):
			t.Errorf("%s: asked %q", x.what, notes.String())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	silent, _ := io.Pipe()
	b := bulk{person: true, answers: silent, notes: io.Discard}
	if err := b.confirm(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
}

// TestBulkCountsEnds: each job has a line and is counted once, as cancelled, ended before, or not
// cancelled.
func TestBulkCountsEnds(t *testing.T) {
	var c bulkCounts
	j := message.JobInfo{Name: "n"}
	for _, x := range []struct {
		end        ending
		line, sums string
	}{
		{ending{state: message.JobCancelled}, " n CANCELLED", "1 job cancelled"},
		{ending{state: message.JobCompleted}, " n had ended before: it is COMPLETED", "1 job cancelled, 1 had ended before"},
		{ending{err: fmt.Errorf("no gate")}, " n: no gate", "1 job cancelled, 1 had ended before, 1 could not be cancelled"},
	} {
		if line := c.add(&j, x.end); !strings.HasSuffix(line, x.line) || c.String() != x.sums {
			t.Errorf("%+v: %q and %q, want %q and %q", x.end, line, c.String(), x.line, x.sums)
		}
	}
}

// Pages of a list become one, without doubles, and a page without a new job is the last.
func TestPagesOfJobsFollow(t *testing.T) {
	jobs := func(from, to int) (all []message.JobInfo) {
		for i := from; i < to; i++ {
			all = append(all, message.JobInfo{Job: message.JobID{byte(i)}})
		}
		return all
	}
	all := new(message.JobList)
	for i, page := range []struct {
		list  message.JobList
		grown bool
		has   int
		more  bool
	}{
		{message.JobList{Jobs: jobs(1, 5), Letters: []message.LetterInfo{{Job: message.JobID{2}}}, More: true, Gates: []message.GateView{{Addr: "a"}, {Addr: "b", Why: "it is away"}}}, true, 4, true},
		{message.JobList{Jobs: jobs(3, 9), Letters: []message.LetterInfo{{Job: message.JobID{7}}}, More: true}, true, 8, true}, // a job before them was forgotten
		{message.JobList{Jobs: jobs(1, 9), More: true}, false, 8, true},
		{message.JobList{Jobs: jobs(9, 10), Gates: []message.GateView{{Addr: "a"}, {Addr: "b"}}}, true, 9, false},
	} {
		if grown := follows(all, &page.list); grown != page.grown || len(all.Jobs) != page.has || all.More != page.more {
			t.Errorf("page %d: grown %v, %d jobs, more %v: want %v, %d, %v", i+1, grown, len(all.Jobs), all.More, page.grown, page.has, page.more)
		}
	}
	for i := range all.Jobs {
		if all.Jobs[i].Job != (message.JobID{byte(i + 1)}) {
			t.Errorf("job %d of the list is %v", i+1, all.Jobs[i].Job)
		}
	}
	if got := SeenBy(all); !strings.Contains(got, "b did not answer: it is away") { // to the first page
		t.Errorf("the list is seen %s", got)
	}
	if len(all.Letters) != 2 {
		t.Errorf("%d dead letters, want 2", len(all.Letters))
	}
}
