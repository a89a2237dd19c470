package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A name that only one system has keeps a command from another one; the error names its place.
func TestSystemsAreChecked(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n", "main.go": "package main\n\nimport \"m/inner\"\n\nfunc main() { inner.Do() }\n",
		"inner/do.go": "package inner\n\nfunc Do() { only() }\n", "inner/only_linux.go": "package inner\n\nfunc only() {}\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkSystem(root, "linux/amd64", "."); err != nil {
		t.Errorf("linux: %v", err)
	}
	if err := checkSystem(root, "darwin/arm64", "."); err == nil || !strings.Contains(err.Error(), "do.go:3:13: undefined: only") {
		t.Errorf("darwin: got %v, want what it lacks", err)
	}
	if err := checkSystem(root, "darwin", "."); err == nil || !strings.Contains(err.Error(), "write GOOS/GOARCH") {
		t.Errorf("got %v, want what to write", err)
	}
}
