package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A gate takes a job over whose program, or a subjob's result, is on no gate's disk. The job
// ends after GoneMax rounds in which all gates said so, not earlier: CANCELLED if a client
// asked for that, else FAILED. Counted results remain.
func TestJobsWithoutTheirFilesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, m := owner()
		state := rapid.SampledFrom([]message.JobState{message.JobQueued, message.JobRunning, message.JobCancelling}).Draw(t, "state")
		j := &entry{Job: job.Job{ID: message.JobID{1}, Takeover: true, Loading: 1, Course: job.Course{State: state, Shown: state, Last: job.Transition{To: state}}}}
		for n := range rapid.IntRange(0, 2).Draw(t, "subjobs") {
			p := &job.Subjob{Datacenter: string(rune('a' + n)), Phase: job.Done, End: job.Counted, File: message.FileDigest{byte(n)}}
			if rapid.Bool().Draw(t, "its result is here") {
				p.Result = &message.DatacenterResult{Name: p.Datacenter, State: message.JobCompleted}
			}
			j.Subjobs = append(j.Subjobs, p)
		}
		m.jobs[j.ID] = j
		m.active = append(m.active, j)
		load := tag{act: actLoad, job: j}
		if len(j.Subjobs) > 0 && rapid.Bool().Draw(t, "it is a subjob's") {
			load.subjob, j.Spec = j.Subjobs[0], &message.JobSubmit{}
		}
		m.ledger.Open(j.ID)
		m.ledger.Fetch(env, j.ID, message.FileDigest{1}, load)
		for gone := 0; gone < ledger.GoneMax; {
			if j.State != state {
				t.Fatalf("given up after %d rounds, want %d", gone, ledger.GoneMax)
			}
			err := archive.ErrMissing
			if rapid.IntRange(0, 3).Draw(t, "a gate is away") == 0 {
				err = errors.New("a fellow is away")
			} else {
				gone++
			}
			for ticket := range uint64(200) { // of the one waiting fetch, and of none
				m.ledger.OnFile(env, &archive.Outcome{Kind: archive.Failed, Ticket: ticket, Err: err})
			}
			m.settleLedger(env)
			m.ledger.Retry(env)
		}
		want := message.JobFailed
		if state == message.JobCancelling {
			want = message.JobCancelled
		}
		if j.State != want {
			t.Fatalf("a job that was %v is %v after %d rounds without its file, want %v", state, j.State, ledger.GoneMax, want)
		}
		for _, p := range j.Subjobs {
			if p.End == job.Counted != (p.Result != nil && p.Result.State == message.JobCompleted) {
				t.Fatalf("subjob %s with the result %+v counts: %v", p.Datacenter, p.Result, p.End == job.Counted)
			}
		}
		if told := job.GivenUp(j.Subjobs); len(told) > 0 { // its result may have counted, until its file was lost
			t.Fatalf("the end of %s is published as one without a result", told[0].Datacenter)
		}
	})
}

// A job's record names a result of another job, as a member that lies may write it. The gate counts
// none of its figures. It ends the job FAILED and says why.
func TestResultsOfAnotherJobCountNowhere(t *testing.T) {
	for _, of := range []message.JobID{{1}, {2}} {
		env, m := owner()
		j := &entry{Job: job.Job{ID: message.JobID{1}, Loading: 2, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning, Last: job.Transition{To: message.JobRunning}}}}
		p := &job.Subjob{Datacenter: "a", Phase: job.Done, End: job.Counted, File: message.FileDigest{1}}
		j.Spec, j.Subjobs = &message.JobSubmit{}, append(j.Subjobs, p)
		m.jobs[j.ID] = j
		m.active = append(m.active, j)
		m.ledger.Open(j.ID)
		m.onFetched(env, &ledger.Outcome[tag]{
			Kind: ledger.Fetched, Job: j.ID, Tag: tag{act: actLoad, job: j, subjob: p},
			Bytes: encoded(&message.SubjobResult{Job: of, Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1}, Subjob: message.DatacenterResult{Name: "a", State: message.JobCompleted}}),
		})
		own := of == j.ID
		if counts := p.Result != nil && p.Result.State == message.JobCompleted; counts != own {
			t.Errorf("a result of job %v counts for job %v: %v", of, j.ID, counts)
		}
		if failed := j.State == message.JobFailed && strings.Contains(j.Reason, "a result of another job"); failed == own {
			t.Errorf("with a result of job %v, job %v is %v: %s", of, j.ID, j.State, j.Reason)
		}
	}
}

// A gate reads invalid bytes as no record, and a file of another kind as no program. Whatever
// the bytes are, a gate that gets such a register gives the job up.
func TestWhatIsNoRecordIsReadAsNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, m := owner()
		id := message.JobOf("k")
		bytes := rapid.OneOf(
			rapid.SliceOfN(rapid.Byte(), 0, 30),
			rapid.Map(rapid.SampledFrom([]string{`{}`, `{"key":"other"}`, `{"spec":"ab"}`, `{"subjobs":[{"counted":"xyz"}]}`, `[]`, `{"last":{"to":99}}`}), func(s string) []byte { return []byte(s) }),
		).Draw(t, "bytes")
		rec, err := job.ReadRecord(id, bytes)
		if err == nil {
			t.Fatalf("%q is read as %+v", bytes, rec)
		}
		if j := m.see(env, id, message.LeaseToken{Epoch: 1, Ordinal: 1}, true, bytes); j != nil {
			t.Fatalf("%q is taken for the end of a job: %+v", bytes, j)
		}
		if _, err := decoded[*message.JobSubmit](bytes); err == nil {
			t.Fatalf("%q is read as a program", bytes)
		}
		if _, err := decoded[*message.JobSubmit](encoded(&message.Drain{Node: "g1"})); err == nil || !strings.Contains(err.Error(), "Drain") {
			t.Fatalf("a Drain is read as a program: %v", err)
		}
	})
}

// A gate cuts another node's text to a bound, and the text stays valid UTF-8.
func TestSentencesAreShortened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "most")
		got := shortened(text, most)
		if len(got) > most || !strings.HasPrefix(text, got) || !utf8.ValidString(got) || len(text) <= most && got != text || len(text) > most && len(got) < most-utf8.UTFMax+1 {
			t.Fatalf("%q within %d bytes is %q", text, most, got)
		}
	})
}

// All watchers of a job get a fetched result. If no gate has it, the gate forgets it for good.
// If a gate is down, all watchers learn when to ask again, and none waits forever.
func TestWatchersHearOfResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, m := owner()
		j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Loading: 1, Course: job.Course{State: message.JobCompleted, Shown: message.JobCompleted}, Outcome: job.Outcome{ResultFile: message.FileDigest{1}, ResultBytes: 10}}}
		m.jobs[j.ID] = j
		watchers := rapid.IntRange(0, 3).Draw(t, "watchers")
		for n := range watchers {
			id := node.ID(fmt.Sprint("c", n))
			m.follow(env, j, &audience.Ask{What: audience.Watch, Stream: env.Accept(node.Peer{ID: id, Incarnation: 1, Role: node.RoleClient}), Request: message.RequestID{Incarnation: 1, Counter: 1}, From: id})
		}
		o := ledger.Outcome[tag]{Kind: ledger.Fetched, Bytes: encoded(&message.JobResult{Request: message.RequestID{Incarnation: 1, Counter: 1}, Result: message.Result{Job: j.ID, State: message.JobCompleted}})}
		here := true
		switch rapid.IntRange(0, 4).Draw(t, "outcome") {
		case 4:
			o.Bytes, here = encoded(&message.JobResult{Request: message.RequestID{Incarnation: 1, Counter: 1}, Result: message.Result{Job: message.JobID{2}, State: message.JobCompleted}}), false
		case 1:
			o, here = ledger.Outcome[tag]{Kind: ledger.Unread, Err: archive.ErrMissing}, false
		case 2:
			o, here = ledger.Outcome[tag]{Kind: ledger.Unread, Err: archive.ErrUnreachable}, false
		case 3:
			o.Bytes, here = encoded(&message.Drain{Node: "g1"}), false
		}
		m.onResultHere(env, j, &o)
		away := errors.Is(o.Err, archive.ErrUnreachable)
		if (j.Result != nil) != here || j.Loading != 0 {
			t.Fatalf("%+v: the result is here: %v", o, j.Result != nil)
		}
		if kept := j.ResultFile != (message.FileDigest{}); kept != (here || away) {
			t.Fatalf("%+v: the result's name is kept: %v", o, kept)
		}
		if sent := here && watchers > 0; j.Sent != sent {
			t.Fatalf("%+v, %d watchers: the result counts as sent: %v", o, watchers, j.Sent)
		}
		if away && len(m.audience.Of(j.ID)) > 0 {
			t.Fatalf("%d wait on for a result that cannot be read", len(m.audience.Of(j.ID)))
		}
	})
}
