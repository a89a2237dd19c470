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

func small() Config {
	c := Default()
	c.Datacenter = "dc1"
	c.Managers = []node.Addr{"m1:1", "m2:1"}
	c.Cores = 4
	c.OutboxMax = 2
	c.Silence = 10 * time.Second
	c.RenewalTimeout = time.Minute // what it brings is in renew.txt
	return c
}

func world(c Config) *nodetest.Env {
	w := nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"},
		New:  func() node.Machine { return New(c) },
	})
	for _, gossip := range []string{"SwimCompare", "SwimProbe", "SwimGossip", "SwimList", "SwimAck"} {
		w.Hidden[gossip] = true
	}
	return w
}

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		c := small()
		if filepath.Base(path) == "renew.txt" {
			c.RenewalTimeout, c.Silence = 5*time.Second, time.Hour
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
	err := Config{Cores: -1, Silence: time.Second, Heartbeat: time.Second}.Validate()
	for _, key := range []string{"datacenter", "managers", "cores", "kill_grace", "silence", "outbox_max", "fences_max"} {
		if err == nil || !strings.Contains(err.Error(), "worker."+key) {
			t.Errorf("no fault of worker.%s in %v", key, err)
		}
	}
}
