package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	if err := write("../..", out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil || !strings.Contains(string(page), "<title>Hyperscale</title>") {
		t.Errorf("index.html: %v\n%.200s", err, page)
	}
}

// A repository without manuals has nothing but faults: nothing is written.
func TestWriteRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	if err := write(t.TempDir(), out); err == nil || !strings.Contains(err.Error(), "nothing written") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}
