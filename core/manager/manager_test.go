package manager

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

func small() Config {
	c := Default()
	c.Datacenter = "dc1"
	c.Gates = []node.Addr{"g1:1"}
	c.PartsMax = 4
	c.FinishedMax = 2
	return c
}

func world(c Config) *nodetest.Env {
	return nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
		New:  func() node.Machine { return New(c) },
	})
}

func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := world(small())
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
		"acted", "fence-refused", "part-changed", "workflow-changed", "slice-dispatched", "slice-lost", "slice-counted",
		"peer-registered", "peer-lost", "ignored", "store-failed", "shed",
	} {
		if !strings.Contains(all.String(), "\n! "+name+" ") {
			t.Errorf("no story shows the event %s", name)
		}
	}
}

func TestValidateNamesEveryFault(t *testing.T) {
	if err := small().Validate(); err != nil {
		t.Fatal(err)
	}
	err := Config{Silence: time.Second, Heartbeat: time.Second}.Validate()
	for _, key := range []string{"datacenter", "gates", "retry", "silence", "rerun_max", "parts_max"} {
		if err == nil || !strings.Contains(err.Error(), "manager."+key) {
			t.Errorf("no fault of manager.%s in %v", key, err)
		}
	}
}
