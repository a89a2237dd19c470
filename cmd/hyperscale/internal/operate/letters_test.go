package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/view"
)

// TestReplaysNeedApproval: without approval nothing is asked of a gate, and the command ends with the
// code of bad usage. With it each letter is asked for once, and the new job is printed.
func TestReplaysNeedApproval(t *testing.T) {
	asked := []message.JobReplay{}
	r := replays{letters: []message.JobInfo{{Job: message.JobID{1}}, {Job: message.JobID{2}}}, number: 3, ask: func(_ context.Context, m node.Message) (node.Message, error) {
		q := m.(*message.JobReplay)
		asked = append(asked, *q)
		return &message.JobAck{Job: message.JobOf(message.ReplayKey(q.Job, q.Number)), Duplicate: q.Job == message.JobID{2}}, nil
	}}
	var out bytes.Buffer
	var exit *command.ExitError
	if err := r.run(context.Background(), &out); !errors.As(err, &exit) || exit.Code != command.ExitUsage || len(asked) > 0 {
		t.Errorf("without approval: %v, and %d replays", err, len(asked))
	}
	key := message.ReplayKey(message.JobID{1}, 3)
	if want := fmt.Sprintf("%v is replayed as %v, key %s\n", message.JobID{1}, message.JobOf(key), key); !strings.HasPrefix(out.String(), want) {
		t.Errorf("it would do\n%s want\n%s", out.String(), want)
	}
	out.Reset()
	r.approved = true
	if err := r.run(context.Background(), &out); err != nil || len(asked) != 2 || asked[0].Job != (message.JobID{1}) || asked[1].Number != 3 {
		t.Errorf("with approval: %v, replays %+v", err, asked)
	}
	want := fmt.Sprintf("%v is replayed as %v\n%v is replayed as %v, which was submitted before\n", message.JobID{1}, message.JobOf(key), message.JobID{2}, message.JobOf(message.ReplayKey(message.JobID{2}, 3)))
	if out.String() != want {
		t.Errorf("got\n%s want\n%s", out.String(), want)
	}
}

// TestReplaysAreBounded: one call names at least one job, and at most 50.
func TestReplaysAreBounded(t *testing.T) {
	for n, ok := range map[int]bool{0: false, 1: true, 50: true, 51: false} { //lint:orderfree each is judged by itself
		if err := replayed(nil, make([]string, n)); (err == nil) != ok {
			t.Errorf("%d jobs: %v", n, err)
		}
	}
}

// TestLettersAreListed: a list has each dead letter with its reason; JSON has its key, the time of
// its end and its program.
func TestLettersAreListed(t *testing.T) {
	id := message.JobID{7}
	l := &message.JobList{
		Gates: []message.GateView{{Node: "g1", Addr: "g1:1"}}, Jobs: []message.JobInfo{{Job: id, Name: "nightly", State: message.JobTimedOut}},
		Letters: []message.LetterInfo{{Job: message.JobID{1}}, {Job: id, Key: "k", Reason: "waited in the queue for 1h", Ended: time.Hour, Program: message.FileDigest{0xab}, Bytes: 9}},
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out bytes.Buffer
	if err := printLetters(&out, l, 1, now, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"as the only gate sees it", id.String(), "nightly", "TIMED_OUT", "1h", "ago", "waited in the queue for 1h", "1 dead letter more: raise --limit"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the list lacks %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := printLetters(&out, l, 0, now, true); err != nil {
		t.Fatal(err)
	}
	var got view.LetterList
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Letters) != 1 {
		t.Fatalf("%v: %s", err, out.String())
	}
	if d := got.Letters[0]; d.Job != id.String() || d.Key != "k" || !d.At.Equal(now.Add(-time.Hour)) || !strings.HasPrefix(d.Program, "ab00") || d.Bytes != 9 {
		t.Errorf("got %+v", d)
	}
}
