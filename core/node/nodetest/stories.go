package nodetest

import (
	"path/filepath"
	"testing"
)

// Stories runs f as a subtest for each story of testdata, a file *.txt. The input that a failed
// property leaves below testdata is no story.
func Stories(t *testing.T, f func(t *testing.T, path string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { f(t, file) })
	}
}
