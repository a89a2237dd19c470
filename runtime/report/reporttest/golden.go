package reporttest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rewrite may be datadriven's, where a test binary has both.
func rewrite() bool { return flag.Lookup("rewrite").Value.String() == "true" }

func init() {
	if flag.Lookup("rewrite") == nil {
		flag.Bool("rewrite", false, "write goldens again")
	}
}

// Golden compares got with a file, or writes it with -rewrite.
func Golden(t *testing.T, file, got string) {
	t.Helper()
	if rewrite() {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: write it with -rewrite, and read it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs, rewrite it with -rewrite if that is meant (-want +got):\n%s", file, diff)
	}
}
