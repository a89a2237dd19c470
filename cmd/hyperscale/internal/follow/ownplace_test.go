package follow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// A workflow's file writes below the working directory alone, through no link, and over nothing
// but an earlier result. The user's --out goes anywhere.
func TestAFileWritesItsOwnPlacesAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	outside := filepath.Join(t.TempDir(), "precious")
	for name, text := range map[string]string{outside: "mine", "notes.txt": "mine", "empty": "", "old.json": `{` + "\n" + `  "schema": "hyperscale.result/v1",`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": outside, "folder": filepath.Dir(outside)} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("results", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ place, want string }{
		{"new.json", ""}, {"results/new.json", ""}, {"empty", ""}, {"old.json", ""}, {"./results/../new.json", ""},
		{outside, "not below the working directory"}, {"../precious", "not below the working directory"}, {"/dev/stdout", "not below"},
		{"results/../../x", "not below"}, {"link", "link is a link"}, {"folder/precious", "folder is a link"}, {"folder/new", "folder is a link"},
		{"notes.txt", "is no result of this kind"}, {"results", "no regular file"}, {"pipe", "no regular file"}, {"missing/new.json", "create it first"},
	} {
		for _, told := range []bool{true, false} {
			if c.place == "pipe" && !told {
				continue // the user's pipe waits for its reader
			}
			f := Flags{}
			if told {
				f.Report(&message.Plan{Workflows: []message.WorkflowPlan{{Report: []string{"json=" + c.place}}}})
			} else {
				f.Outs = []string{"json=" + c.place}
			}
			outs, err := f.Outputs(nil)
			if err != nil {
				t.Fatal(err)
			}
			err = outs[0].Check()
			if told && (err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the file's %s: %v, want %q", c.place, err, c.want)
			}
			if !told && err != nil && !strings.Contains(err.Error(), "create it first") && !strings.Contains(err.Error(), "cannot be written") {
				t.Errorf("the user's %s: %v", c.place, err)
			}
		}
	}
}

// A link that appears while the job runs does not lead the result elsewhere.
func TestALinkDuringTheRunIsNotFollowed(t *testing.T) {
	t.Chdir(t.TempDir())
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := Flags{}
	f.Report(&message.Plan{Workflows: []message.WorkflowPlan{{Report: []string{"json=of.json"}}}})
	outs, err := f.Outputs(nil)
	if err == nil {
		err = outs[0].Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, "of.json"); err != nil {
		t.Fatal(err)
	}
	if err := outs[0].Write(t.Context(), &report.Result{}); err == nil || !strings.Contains(err.Error(), "of.json is a link") {
		t.Errorf("it writes through a link: %v", err)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "mine" {
		t.Errorf("the file behind the link has %q, %v", b, err)
	}
}

// Each kind recognizes what it wrote.
func TestKindsKnowTheirOwnFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	r := report.Result{Schema: report.Schema, Job: "j", Name: "n", Outcome: "COMPLETED"}
	for _, k := range outputKinds() {
		b, err := k.encode(&r)
		if err == nil {
			err = os.WriteFile(k.name, b, 0o600)
		}
		if err == nil {
			err = ownPlace(k.name, k.marks...)
		}
		if err != nil || len(k.marks) == 0 {
			t.Errorf("%s: %v", k.name, err)
		}
	}
}
