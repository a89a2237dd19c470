package client_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/node"
)

func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			w := world("g1:1", "g2:1")
			if file == "testdata/bounds.txt" {
				w = worldOf(bounds())
			}
			if file == "testdata/names.txt" || file == "testdata/recall.txt" {
				w = worldOf(named())
			}
			if file == "testdata/explore.txt" {
				w = worldOf(exploring())
			}
			w.WatchEvent = func(e node.Event) { seen[e.EventName()] = true }
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
		})
	}
	for _, name := range []string{"ignored", "client-called", "client-returned", "gates-known", "gates-recalled", "gate-preferred"} {
		if !seen[name] {
			t.Errorf("no story produces the event %s", name)
		}
	}
}
