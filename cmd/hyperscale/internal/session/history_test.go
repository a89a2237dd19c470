package session

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHistoryGoesOnBehindATornLine(t *testing.T) {
	for _, tc := range []struct{ name, before, want string }{
		{"a new file", "", "x\n"},
		{"whole lines", "a\nb\n", "a\nb\nx\n"},
		{"a line that was cut short", "a\nb", "a\nb\nx\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "node.jsonl")
			if err := os.WriteFile(path, []byte(tc.before), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := OpenHistory("history", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("x\n"); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != tc.want {
				t.Fatalf("got %q, error %v, want %q", got, err, tc.want)
			}
		})
	}
}
