package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		c := small()
		switch filepath.Base(path) {
		case "names.txt":
			c.Managers, c.Discover = c.Managers[:1], []node.Addr{"dns:m:1"}
		case "renew.txt":
			c.RenewalTimeout, c.Silence = 5*time.Second, time.Hour
		case "watch.txt", "memory.txt":
			c.RenewalTimeout, c.Silence = time.Hour, time.Hour
		case "slots.txt":
			c.RenewalTimeout, c.Silence, c.OutboxMax, c.Cores = 5*time.Second, time.Hour, 10, 10
		}
		w := world(c)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
	})
}

func TestEveryEventHasAStory(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, name := range []string{
		"acted", "fence-refused", "shard-started", "shard-ended", "executor-gone",
		"fence-stored", "shard-renewed",
		"peer-registered", "peer-lost", "ignored", "store-failed", "shed", "bound-near", "bound-used", "executor-watched", "memory-level", "name-resolved",
	} {
		if !strings.Contains(all.String(), "\n! "+name+" ") {
			t.Errorf("no story shows the event %s", name)
		}
	}
}
