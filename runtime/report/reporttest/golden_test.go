package reporttest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

func TestGolden(t *testing.T) {
	file := filepath.Join(t.TempDir(), "below", "a.txt")
	if err := flag.Set("rewrite", "true"); err != nil {
		t.Fatal(err)
	}
	Golden(t, file, "as it is")
	if err := flag.Set("rewrite", "false"); err != nil {
		t.Fatal(err)
	}
	Golden(t, file, "as it is")
	if text, err := os.ReadFile(file); err != nil || string(text) != "as it is" {
		t.Errorf("%q, %v", text, err)
	}
}
