package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		if err := write(name, b); !errors.Is(err, os.ErrExist) {
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
