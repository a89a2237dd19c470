package manager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

func small() Config {
	c := Default()
	c.Datacenter = "dc1"
	c.Gates = []node.Addr{"g1:1"}
	c.SubjobsMax = 4
	c.FinishedMax = 2
	c.ReportsMax = 10
	c.DatacenterLease = 20 * time.Minute // a gate gives its word once a story
	return c
}

// world is one manager alone in its datacenter: a majority of one. Events of its subjobs appear
// in their own stories.
func world(c Config) *nodetest.Env {
	w := nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1", Minor: message.Minor},
		New:  func() node.Machine { return &answered{New(c)} },
	})
	for _, name := range []string{
		"put", "lease-granted", "lease-extended", "lease-ended", "lease-called", "lease-returned", "acceptor-wrote", "group-joined",
		"voted", "elected", "stepped-down", "leader-known", "health-changed", "reached", "fleet-counted",
	} {
		w.Hidden[name] = true
	}
	return w
}

// answered is a manager whose gate names each subjob in the same step in which the manager
// begins to hold it. testdata/word covers the time before.
type answered struct{ *Machine }

func (a *answered) Step(env node.Env, in *node.Input) {
	a.Machine.Step(env, in)
	var named []*subjob.Subjob
	for _, p := range a.order {
		if p.Deadline == 0 && p.Missing == 0 && a.holds(env, p) {
			a.extend(p, env.Now())
			named = append(named, p)
		}
	}
	a.resumed(env, named)
	a.settle(env)
}

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
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
		"acted", "fence-refused", "subjob-changed", "workflow-changed", "shard-dispatched", "shard-lost", "shard-counted",
		"peer-registered", "peer-lost", "peer-refused", "ignored", "store-failed", "shed", "budget-spent",
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
	err := Config{Pace: Pace{Silence: time.Second, Heartbeat: time.Second}, Group: Group{Managers: []node.Addr{"a", "a"}}}.Validate()
	for _, key := range []string{"datacenter", "gates", "managers", "retry", "silence", "rerun_max", "subjobs_max", "subjob_lease", "drift_ppm"} {
		if err == nil || !strings.Contains(err.Error(), "manager."+key) {
			t.Errorf("no fault of manager.%s in %v", key, err)
		}
	}
	for _, test := range []struct {
		key    string
		change func(*Config)
	}{
		{"subjob_lease", func(c *Config) { c.SubjobLease = c.QuorumTimeout }},
		{"renewal_timeout", func(c *Config) { c.SubjobLease = 4 * time.Second }},
		{"datacenter_lease", func(c *Config) { c.DatacenterLease = c.Silence }},
	} {
		c := small()
		test.change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "manager."+test.key) || !strings.Contains(err.Error(), "lease (1 ") {
			t.Errorf("no formula of manager.%s in %v", test.key, err)
		}
	}
}

func TestPatienceOutlastsEveryClock(t *testing.T) {
	c := Default()
	if got := c.patience(); got != 5308*time.Millisecond {
		t.Errorf("5.201 s (1 + r)/(1 - r) + 1 ms is %v", got)
	}
	if h, g := c.hold(2*time.Second), c.guard(2*time.Second); h != 1979*time.Millisecond || g != 2021*time.Millisecond {
		t.Errorf("a lease of 2 s holds for %v and is guarded for %v", h, g)
	}
}
