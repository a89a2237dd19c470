package workflow_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite
	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/language"
)

// rewrite reports whether the flag -rewrite, which datadriven declares, is set.
func rewrite() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// golden compares with a file, or writes it with -rewrite.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if rewrite() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got, -rewrite accepts):\n%s", path, diff)
	}
}

// program is one file as a program.
func program(name, text string) message.Program {
	return message.Program{Main: name, Files: []message.File{{Name: name, Data: []byte(text)}}}
}

// Load rejects every file of testdata/errors with the text in the .txt file of its name.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".star"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = workflow.Load(program(filepath.Base(path), string(data)))
			var wrong *language.Error
			if !errors.As(err, &wrong) {
				t.Fatalf("got %v (%T), want an *Error", err, err)
			}
			golden(t, strings.TrimSuffix(path, ".star")+".txt", wrong.Error()+"\n")
		})
	}
}

// Every line of testdata/semantics.star holds, although operators and methods are rewritten.
func TestRewritingKeepsMeaning(t *testing.T) {
	data, err := os.ReadFile("testdata/semantics.star")
	if err != nil {
		t.Fatal(err)
	}
	p, err := workflow.Load(program("semantics.star", string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Workflow("w").HTTP.Insecure {
		t.Error("tls(verify = False) verifies")
	}
	if p.Workflow("x") != nil {
		t.Error("there is a workflow x")
	}
}
