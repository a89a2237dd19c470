package simulate

import (
	"errors"
	"hyperscale/cmd/hyperscale/internal/command"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The command explains a history that the checker rejects, with a picture, and calls a good one
// good.
func TestExplainTellsWhatCannotBeOrdered(t *testing.T) {
	for _, tc := range []struct {
		pattern, want string
		code          int
	}{
		{"rejected-T4-*.jsonl", "", 1},
		{"accepted-*.jsonl", "can be ordered", 0},
	} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "checker", "testdata", tc.pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no history %s: %v", tc.pattern, err)
		}
		for _, name := range files {
			var out strings.Builder
			picture := filepath.Join(t.TempDir(), "page.html")
			err := explain(&out, name, picture, false)
			got := 0
			if exit := new(command.ExitError); errors.As(err, &exit) {
				got = exit.Code
			}
			if got != tc.code || !strings.Contains(out.String(), tc.want) {
				t.Errorf("%s: exit %d, want %d: %v\n%s", name, got, tc.code, err, &out)
			}
			if _, err := os.Stat(picture); (err == nil) != (tc.code == 1) {
				t.Errorf("%s: exit %d, picture: %v", name, tc.code, err)
			}
		}
	}
}
