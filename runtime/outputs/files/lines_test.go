package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

func deliver(t *testing.T, l *lines, rows []outputs.Row) {
	t.Helper()
	if out := l.Deliver(context.Background(), outputs.Batch{Rows: rows}); out.Verdict != outputs.VerdictDelivered {
		t.Fatalf("%+v", out)
	}
}

// What is read is what was delivered, names that formats escape wrong included.
func TestRowsComeBack(t *testing.T) {
	l := &lines{format: jsonl(), name: filepath.Join(t.TempDir(), "rows.jsonl")}
	rows := outputstest.Rows("a")
	deliver(t, l, rows[:9])
	deliver(t, l, rows[9:])
	l.Close()
	got, err := Read(l.name, "a")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rows, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
}

// FILES-1: a crash tears the last line alone, and the first delivery cuts it.
func TestATornLine(t *testing.T) {
	l := &lines{format: jsonl(), name: filepath.Join(t.TempDir(), "rows.jsonl")}
	rows := outputstest.Rows("a")
	deliver(t, l, rows[:2])
	l.Close()
	whole, err := os.ReadFile(l.name)
	if err != nil {
		t.Fatal(err)
	}
	for _, torn := range []string{`{"kind":"window","job`, "{", strings.Repeat("x", 200_000)} {
		if err := os.WriteFile(l.name, append(whole[:len(whole):len(whole)], torn...), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(l.name, ""); len(got) != 2 || !errors.Is(err, outputs.ErrTorn) {
			t.Fatalf("behind %.20q: %d rows, %v", torn, len(got), err)
		}
		again := &lines{format: jsonl(), name: l.name}
		if err := again.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(l.name); len(b) != len(whole)+len(torn) {
			t.Fatalf("a check leaves %d of %d bytes", len(b), len(whole)+len(torn))
		}
		deliver(t, again, rows[2:3])
		again.Close()
		if got, err := Read(l.name, ""); err != nil || len(got) != 3 {
			t.Fatalf("behind %.20q: %d rows, %v", torn, len(got), err)
		}
	}
}

// FILES-2: a batch that fails is not there twice.
func TestAFailedBatch(t *testing.T) {
	l := &lines{format: jsonl(), name: filepath.Join(t.TempDir(), "rows.jsonl")}
	rows := outputstest.Rows("a")
	deliver(t, l, rows[:1])
	works := l.out
	broken, err := os.Open(l.name) // cannot be written
	if err != nil {
		t.Fatal(err)
	}
	l.out = broken
	if out := l.Deliver(context.Background(), outputs.Batch{Rows: rows[1:3]}); out.Verdict != outputs.VerdictAgain {
		t.Fatalf("a file that cannot be written: %+v", out)
	}
	l.out = works
	deliver(t, l, rows[1:3])
	l.Close()
	if got, err := Read(l.name, ""); err != nil || len(got) != 3 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
}

// FILES-3, and what a check leaves behind.
func TestFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		filepath.Join(dir, "none", "rows.jsonl"): "create it first",
		dir:                                      "end its name with /",
	} {
		if err := (&lines{format: jsonl(), name: name}).Check(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&lines{format: jsonl(), name: other}).Check(context.Background()); err == nil || !strings.Contains(err.Error(), "other lines than rows") {
		t.Errorf("a file of notes: %v", err)
	}
	if b, _ := os.ReadFile(other); string(b) != "notes" {
		t.Errorf("the notes are %q now", b)
	}
	for _, text := range []string{"{\"kind\":\"Pod\",\"spec\":1}", "{\"kind\":\"Pod\"}\n{\"kind\":\"Po", "{\"kind\":\"window\",\"job"} { // of others, or nothing that a run acknowledged
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := (&lines{format: jsonl(), name: other}).Check(context.Background()); err == nil || !strings.Contains(err.Error(), "other lines than rows") {
			t.Errorf("%s: %v", text, err)
		}
		if b, _ := os.ReadFile(other); string(b) != text {
			t.Errorf("%q is %q now", text, b)
		}
	}
	l := &lines{format: jsonl(), name: filepath.Join(dir, "rows.jsonl")}
	if err := l.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := (&lines{format: jsonl(), name: l.name}).Check(context.Background()); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a file in use: %v", err)
	}
	l.Close()
	if _, err := os.Stat(l.name); err == nil {
		t.Error("a check leaves an empty file")
	}
}
