package results

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

func file(t *testing.T, job message.JobID) []byte {
	t.Helper()
	r, err := report.Build(&message.Result{Job: job, Name: "a.star", State: message.JobCompleted}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A file of another job, of nothing, or half of one is no result of the job, and nothing replaces it.
func TestNoFileIsReplaced(t *testing.T) {
	own, other := message.JobID{1}, message.JobID{2}
	b := file(t, own)
	for what, text := range map[string][]byte{"of another job": file(t, other), "empty": nil, "cut off": b[:len(b)/2], "its own": b} {
		folder := t.TempDir()
		name := filepath.Join(folder, own.String()+".json")
		if has, err := holds(name, own); has || err != nil {
			t.Errorf("a file that is missing: %v, %v", has, err)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		has, err := holds(name, own)
		if has != (what == "its own") || has == (err != nil) {
			t.Errorf("%s: %v, %v", what, has, err)
		}
		if err := command.NewFile(name, 0o644, func(w io.Writer) error { _, err := w.Write(b); return err }); !errors.Is(err, os.ErrExist) {
			t.Errorf("%s: it is written over: %v", what, err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != string(text) {
			t.Errorf("%s: it has changed, %v", what, err)
		}
		if all, err := os.ReadDir(folder); err != nil || len(all) != 1 {
			t.Errorf("%s: a partial file is left: %v, %v", what, all, err)
		}
	}
}

// A pipe of a result's name is no result, and the command does not wait for a writer.
func TestAPipeIsNoResult(t *testing.T) {
	job := message.JobID{1}
	name := filepath.Join(t.TempDir(), job.String()+ending)
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if has, err := holds(name, job); has || err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a pipe: %v, %v", has, err)
	}
}

// The folder should have the results of jobs that were accepted within --since, the oldest first. An older job counts nowhere.
func TestSince(t *testing.T) {
	job := func(n byte, age time.Duration, s message.JobState) message.JobInfo {
		return message.JobInfo{Job: message.JobID{n}, Age: age, State: s}
	}
	jobs := []message.JobInfo{ // the newest first
		job(1, time.Minute, message.JobRunning), job(2, time.Minute, message.JobCompleted), job(3, time.Hour, message.JobFailed),
		job(4, time.Hour+1, message.JobCompleted), job(5, 2*time.Hour, message.JobRunning), job(6, 30*24*time.Hour, message.JobCancelled),
	}
	for _, c := range []struct {
		since   time.Duration
		want    []message.JobID
		running int
	}{
		{0, []message.JobID{{6}, {4}, {3}, {2}}, 2},
		{time.Hour, []message.JobID{{3}, {2}}, 1},
		{time.Second, nil, 0},
	} {
		e := export{since: c.since}
		if got := e.due(jobs); !slices.Equal(got, c.want) || e.running != c.running {
			t.Errorf("since %v: %v and %d that run, want %v and %d", c.since, got, e.running, c.want, c.running)
		}
	}
}

// Only what a killed export left is removed: a name beside the results may be anyone's.
func TestNamesOfResults(t *testing.T) {
	for name, want := range map[string]bool{message.JobID{1}.String() + ".json": true, message.JobID{1}.String(): false, "notes.json": false, ".json": false} {
		if got := isResult(name); got != want {
			t.Errorf("%q is the name of a result: %v", name, got)
		}
	}
}

// An export that may lack results fails.
func TestAnExportThatLacksResultsFails(t *testing.T) {
	gate := func(why string) message.GateView { return message.GateView{Node: "g", Why: why} }
	there, away := gate(""), gate("it is away")
	for _, c := range []struct {
		name    string
		list    message.JobList
		missing []error
		says    string // of the error; empty: none
	}{
		{"all", message.JobList{Gates: []message.GateView{there, there, away}}, nil, ""},
		{"half of the gates", message.JobList{Gates: []message.GateView{there, away}}, nil, "not whole"},
		{"a cut list", message.JobList{Gates: []message.GateView{there}, More: true}, nil, "not whole"},
		{"a forgotten result", message.JobList{Gates: []message.GateView{there}}, []error{errors.New("it is no longer kept")}, "no longer kept"},
	} {
		var out strings.Builder
		err := (&export{written: 3, kept: 2, running: 1, missing: c.missing}).tell(&out, &c.list, nil)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if want := "3 results written, 2 were there, "; !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "1 job has not ended") {
			t.Errorf("%s: it says %q", c.name, out.String())
		}
	}
}
