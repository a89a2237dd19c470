package checker_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/checker"
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

// A worker that woke for a moment after its job had ended, and stands still again, has
// kept no core back.
func TestCoreOfWhoStandsStill(t *testing.T) {
	for _, still := range []bool{true, false} {
		c := checker.New()
		c.Assume(checker.Assumptions{Still: func(id node.ID) bool { return still && id == "w1" }})
		for _, r := range read(t, "testdata/rejected-T9-core-never-freed.jsonl") {
			c.Observe(r)
		}
		c.Finish(time.Hour, time.Minute)
		if got := len(c.Violations()) > 0; got == still {
			t.Errorf("it stands still: %v, violations: %v", still, c.Violations())
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

func TestHistoryReadsWhatItWrote(t *testing.T) {
	want := []checker.Record{
		{At: time.Second, Node: "w1", Incarnation: 3, Local: 5, Event: event.ShardStarted{Cores: []int{0, 2}, Total: 4}},
		{At: 2 * time.Second, Node: "g1", Incarnation: 1, Event: event.Shed{What: "submit", Why: "full"}},
	}
	var b []byte
	for _, r := range want {
		var err error
		if b, err = checker.AppendJSON(b, r); err != nil {
			t.Fatal(err)
		}
	}
	var got []checker.Record
	if err := checker.Read(bytes.NewReader(b), func(r checker.Record) { got = append(got, r) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-written +read:\n%s", diff)
	}
}

// A process that is killed may have written a part of a line, where another goes on.
func TestHistoryOfAKilledProcess(t *testing.T) {
	whole, err := checker.AppendJSON(nil, checker.Record{At: time.Second, Node: "g1", Incarnation: 1, Event: event.Shed{What: "submit", Why: "full"}})
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < len(whole)-1; cut++ {
		text := slices.Concat(whole, whole[:cut], []byte{'\n'}, whole, whole[:cut])
		n := 0
		if err := checker.Read(bytes.NewReader(text), func(checker.Record) { n++ }); err != nil || n != 2 {
			t.Fatalf("cut at %d: %d records, error %v: want the 2 whole ones", cut, n, err)
		}
	}
}

func TestHistoryThatIsNoneIsRefused(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"not JSON", "hello\n", "line 1"},
		{"an unknown event", `{"event":"moon-landing","data":{}}` + "\n", "moon-landing"},
		{"fields of another type", `{"event":"shed","data":{"What":7}}` + "\n", "shed"},
		{"an endless line", strings.Repeat("x", 2<<20), "longer than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := checker.Read(strings.NewReader(tc.text), func(checker.Record) {})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want it to name %q", err, tc.want)
			}
		})
	}
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

// A node without its disk starts anew; with it, the same events are violations.
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
		_ = checker.Read(bytes.NewReader(b), c.Observe)
		c.Finish(time.Hour, time.Minute)
	})
}

// BenchmarkObserve feeds what a history holds most of, and what costs most. Its
// events are boxed before: that is the machines' cost.
func BenchmarkObserve(b *testing.B) {
	nodes := []node.ID{"gate-1", "gate-2", "gate-3", "manager-dc-a-1", "worker-dc-a-1", "worker-dc-a-2"}
	token := message.LeaseToken{Epoch: 1, Ordinal: 1}
	for _, bench := range []struct {
		name   string
		nodes  int // that speak in turn
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
