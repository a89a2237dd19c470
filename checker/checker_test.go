package checker_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/checker"
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Each file of testdata is a history. accepted-*.jsonl must pass; rejected-T8-*
// must break T8 and nothing else.
func TestHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			got := judge(t, file)
			verdict, rest, _ := strings.Cut(name, "-")
			invariant, _, _ := strings.Cut(rest, "-")
			seen[verdict]++
			if verdict == "accepted" {
				if len(got) != 0 {
					t.Fatalf("violations: %v", got)
				}
				return
			}
			seen[invariant]++
			if len(got) == 0 {
				t.Fatal("nothing was found wrong")
			}
			for _, v := range got {
				if v.Invariant != invariant {
					t.Errorf("want only %s broken, got %v", invariant, v)
				}
			}
		})
	}
	for _, want := range []string{"accepted", "T1", "T2", "T3", "T4", "T5", "T6", "T8", "T9", "T11", "T13", "A", "F", "L", checker.Undecided} {
		if seen[want] == 0 {
			t.Errorf("no history for %s", want)
		}
	}
}

func judge(t *testing.T, file string) []checker.Violation {
	c := checker.New()
	for _, r := range read(t, file) {
		c.Observe(r)
	}
	c.Finish(time.Hour, time.Minute)
	return c.Violations()
}

// A paused worker woke for a moment after its job had ended, and is paused again: it has not
// kept a core busy.
func TestCoreOfAPausedWorker(t *testing.T) {
	for _, paused := range []bool{true, false} {
		c := checker.New()
		c.Assume(checker.Assumptions{Paused: func(id node.ID) bool { return paused && id == "w1" }})
		for _, r := range read(t, "testdata/rejected-T9-core-never-freed.jsonl") {
			c.Observe(r)
		}
		c.Finish(time.Hour, time.Minute)
		if got := len(c.Violations()) > 0; got == paused {
			t.Errorf("it is paused: %v, violations: %v", paused, c.Violations())
		}
	}
}

func open(t testing.TB, file string) *os.File {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAcknowledgedJobMustBeKnown(t *testing.T) {
	c := checker.New()
	job := message.JobID{7}
	c.Acknowledged(checker.Record{Node: "client"}, job)
	if got := c.Violations(); len(got) != 1 || got[0].Invariant != "T11" {
		t.Fatalf("an unknown job was acknowledged: got %v", got)
	}
	c.Observe(checker.Record{Node: "g1", Event: event.JobChanged{Job: job, To: message.JobSubmitted}})
	c.Acknowledged(checker.Record{Node: "client"}, job)
	if got := c.Broken(); got != 1 {
		t.Fatalf("a known job was acknowledged: got %v", c.Violations())
	}
}

// Without its disk a node starts over; with it, the same events are violations.
func TestForgetIsForOneNode(t *testing.T) {
	acted := func(id node.ID, epoch uint64) checker.Record {
		return checker.Record{Node: id, Event: event.Acted{Fence: message.Fence{JobEpoch: epoch, SubjobEpoch: 1}, Subjob: true, What: "dispatch"}}
	}
	c := checker.New()
	c.Observe(acted("m1", 2))
	c.Observe(acted("m2", 2))
	c.Forget("m1")
	c.Observe(acted("m1", 1))
	if got := c.Broken(); got != 0 {
		t.Fatalf("m1 had lost its disk: got %v", c.Violations())
	}
	c.Observe(acted("m2", 1))
	if got := c.Violations(); len(got) != 1 || got[0].Invariant != "T3" || got[0].Node != "m2" {
		t.Fatalf("m2 had not: got %v", got)
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	slices.Sort(files)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := checker.New()
		_ = history.Read(bytes.NewReader(b), c.Observe)
		c.Finish(time.Hour, time.Minute)
	})
}

// BenchmarkObserve feeds the most frequent and the most expensive events of a history. It boxes
// them in advance, because that cost belongs to the machines.
func BenchmarkObserve(b *testing.B) {
	nodes := []node.ID{"gate-1", "gate-2", "gate-3", "manager-dc-a-1", "worker-dc-a-1", "worker-dc-a-2"}
	token := message.LeaseToken{Epoch: 1, Ordinal: 1}
	for _, bench := range []struct {
		name   string
		nodes  int // nodes that emit in turn
		events []node.Event
	}{
		{"nothing-to-judge", 6, []node.Event{event.PeerRegistered{}, event.AcceptorWrote{}, event.MemberChanged{}, event.Ignored{}}},
		{"shard", 1, []node.Event{
			event.ShardStarted{Datacenter: "dc", Cores: []int{0}, Total: 1}, event.ShardRenewed{}, event.ShardEnded{Cores: []int{0}},
		}},
		{"acted", 1, []node.Event{event.Acted{What: "cancel"}}},
		{"lease-extended", 1, []node.Event{event.LeaseGranted{Group: "gates", Token: token, Until: 1}, event.LeaseExtended{Group: "gates", Token: token, Until: 2}}},
		{"update", 1, []node.Event{
			event.LeaseCalled{Group: "gates", Call: 1, What: "update", Token: token, Value: 1},
			event.LeaseReturned{Group: "gates", Call: 1, OK: true},
		}},
		{"status", 1, []node.Event{
			event.ClientCalled{Call: 1, What: "status", Job: message.JobID{1}},
			event.ClientReturned{Call: 1, What: "status", Job: message.JobID{1}, OK: true, State: message.JobRunning},
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			c := checker.New()
			c.Observe(checker.Record{Node: nodes[0], Incarnation: 1, Event: event.LeaseCalled{Group: "gates", What: "acquire"}})
			c.Observe(checker.Record{Node: nodes[0], Incarnation: 1, Event: event.LeaseReturned{Group: "gates", OK: true, Token: token}})
			c.Observe(checker.Record{Node: nodes[0], Incarnation: 1, Event: event.ClientCalled{What: "submit", Job: message.JobID{1}}})
			c.Observe(checker.Record{Node: nodes[0], Incarnation: 1, Event: event.ClientReturned{What: "submit", Job: message.JobID{1}, OK: true}})
			i := 0
			for b.Loop() {
				c.Observe(checker.Record{At: time.Duration(i), Node: nodes[i%bench.nodes], Incarnation: 1, Event: bench.events[i%len(bench.events)]})
				i++
			}
		})
	}
}
