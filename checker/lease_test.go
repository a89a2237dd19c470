package checker_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/checker"
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// world reports a history second by second, and has the clocks of its nodes. They read real
// time times rate percent, unless they are down.
type world struct {
	*story
	rate map[node.ID]int64
	life map[node.ID]uint64 // 1 if it is not set; down reports 0
	down map[node.ID]bool
}

func watch(a checker.Assumptions) *world {
	w := &world{tell(), map[node.ID]int64{}, map[node.ID]uint64{}, map[node.ID]bool{}}
	a.Clock = func(id node.ID, incarnation uint64) (node.Instant, bool) {
		return w.clock(id), !w.down[id] && incarnation == max(1, w.life[id])
	}
	w.Assume(a)
	return w
}

func (w *world) clock(id node.ID) node.Instant {
	rate := w.rate[id]
	if rate == 0 {
		rate = 100
	}
	return node.Instant(int64(w.at) / 100 * rate)
}

// sees reports an event at a second, by the running incarnation.
func (w *world) sees(second int, id node.ID, e node.Event) *world {
	w.at = time.Duration(second) * time.Second
	w.Observe(checker.Record{At: w.at, Node: id, Incarnation: max(1, w.life[id]), Event: e})
	return w
}

// grant is for thirty seconds of the node's own clock. The attempt began when that clock read
// began seconds.
func (w *world) grant(second int, id node.ID, epoch uint64, ordinal uint32, began int) *world {
	w.at = time.Duration(second) * time.Second
	return w.sees(second, id, event.LeaseGranted{
		Group: checker.GroupGates, Job: one, Token: message.LeaseToken{Epoch: epoch, Ordinal: ordinal},
		Until: w.clock(id).Add(30 * time.Second), Began: node.Instant(began) * node.Instant(time.Second),
	})
}

func TestClocksAndAssumptions(t *testing.T) {
	within, beyond := checker.Assumptions{}, checker.Assumptions{DriftBeyondBound: true}
	started := func(n uint64) event.ShardStarted { return start(first, fence(1, n), 0) }
	for _, tc := range []struct {
		name, want string
		got        func() *world
	}{
		{"a window that a slow clock keeps open", "T2", func() *world {
			w := watch(within)
			w.rate["g1"] = 90
			return w.grant(1, "g1", 1, 1, 0).grant(32, "g2", 2, 2, 31)
		}},
		{"a window that a fast clock has shut", "", func() *world {
			w := watch(within)
			w.rate["g1"] = 110
			return w.grant(1, "g1", 1, 1, 0).grant(30, "g2", 2, 2, 29)
		}},
		{"a window that has shut in this moment", "", func() *world {
			return watch(within).grant(1, "g1", 1, 1, 0).grant(31, "g2", 2, 2, 30)
		}},
		{"a window that shuts in the next moment", "T2", func() *world {
			w := watch(within).grant(1, "g1", 1, 1, 0)
			return w.grant(30, "g2", 2, 2, 29)
		}},
		{"a window of a holder that died", "", func() *world {
			w := watch(within).grant(1, "g1", 1, 1, 0)
			w.down["g1"] = true
			return w.grant(5, "g2", 2, 2, 4)
		}},
		{"a window of a process that was said to have died", "", func() *world {
			w := watch(within).grant(1, "g1", 1, 1, 0)
			w.Died("g1")
			return w.grant(5, "g2", 2, 2, 4)
		}},
		{"overlapping windows beyond the drift bound", "", func() *world {
			return watch(beyond).grant(1, "g1", 1, 1, 0).grant(5, "g2", 2, 2, 4)
		}},
		{"a lower token beyond the bound, of an attempt that was on its way", "", func() *world {
			w := watch(beyond).sees(0, "g1", event.Shed{})
			return w.grant(5, "g2", 2, 2, 1).grant(6, "g1", 1, 1, 4)
		}},
		{"a lower token beyond the bound, of an attempt that began later", "T1", func() *world {
			w := watch(beyond).sees(0, "g1", event.Shed{})
			return w.grant(5, "g2", 2, 2, 1).grant(8, "g1", 1, 1, 7)
		}},
		{"a lower token beyond the bound, of a later incarnation", "T1", func() *world {
			w := watch(beyond).sees(0, "g1", event.Shed{})
			w.grant(5, "g2", 2, 2, 1)
			w.life["g1"] = 2
			return w.grant(8, "g1", 1, 1, 0)
		}},
		{"an equal token beyond the bound", "T1", func() *world {
			return watch(beyond).grant(1, "g1", 1, 1, 0).grant(5, "g1", 1, 1, 0)
		}},
		{"a shard beside another one", "T13", func() *world {
			return watch(within).sees(1, "w1", started(1)).sees(2, "w2", started(2))
		}},
		{"a shard beside another one beyond the bound", "", func() *world {
			return watch(beyond).sees(1, "w1", started(1)).sees(2, "w2", started(2))
		}},
		{"a shard whose worker died", "", func() *world {
			w := watch(within).sees(1, "w1", started(1))
			w.down["w1"] = true
			return w.sees(2, "w2", started(2))
		}},
		{"a shard whose time is not over on its worker's clock", "T13", func() *world {
			w := watch(within)
			w.rate["w1"] = 90
			w.sees(1, "w1", started(1)).sees(2, "w1", event.ShardRenewed{Shard: first, Fence: fence(1, 1), Until: node.Instant(7 * time.Second)})
			return w.sees(7, "w2", started(2))
		}},
		{"a shard whose time is over", "", func() *world {
			w := watch(within)
			w.rate["w1"] = 110
			w.sees(1, "w1", started(1)).sees(2, "w1", event.ShardRenewed{Shard: first, Fence: fence(1, 1), Until: node.Instant(7 * time.Second)})
			return w.sees(7, "w2", started(2))
		}},
		{"a shard whose executors are seen to go on", "T13", func() *world {
			w := watch(checker.Assumptions{Sends: func(id node.ID, s message.ShardID, f message.Fence) bool {
				return id == "w1" && s == first && f == fence(1, 1)
			}})
			w.sees(1, "w1", started(1)).sees(2, "w1", event.ShardRenewed{Shard: first, Fence: fence(1, 1), Until: node.Instant(7 * time.Second)})
			return w.sees(9, "w2", started(2))
		}},
		{"memory beyond its bound", "T12", func() *world {
			w := watch(within)
			w.Size(0, "g1", "jobs", 100, 100)
			w.Size(0, "g1", "jobs", 101, 100)
			w.Size(0, "g1", "jobs", 102, 100)
			return w
		}},
		{"holder reads beyond the bound", "", func() *world { return staleHolderRead(watch(beyond)) }},
		{"holder reads within it", "T4", func() *world { return staleHolderRead(watch(within)) }},
		{"a job without an owner", "T11", func() *world {
			w := watch(within).grant(1, "g1", 1, 1, 0)
			w.Promise(checker.Promises{HeldWithin: 10 * time.Second})
			w.sees(2, "g1", event.JobChanged{Job: one, To: message.JobSubmitted})
			w.sees(3, "g1", event.LeaseEnded{Group: checker.GroupGates, Job: one, Token: message.LeaseToken{Epoch: 1, Ordinal: 1}})
			w.Finish(14*time.Second, time.Minute)
			return w
		}},
		{"a job between two owners", "", func() *world {
			w := watch(within).grant(1, "g1", 1, 1, 0)
			w.Promise(checker.Promises{HeldWithin: 10 * time.Second})
			w.sees(2, "g1", event.JobChanged{Job: one, To: message.JobSubmitted})
			w.sees(5, "g1", event.LeaseEnded{Group: checker.GroupGates, Job: one, Token: message.LeaseToken{Epoch: 1, Ordinal: 1}})
			w.Finish(14*time.Second, time.Minute)
			return w
		}},
		{"a job with an owner", "", func() *world {
			w := watch(within).grant(1, "g1", 1, 1, 0)
			w.Promise(checker.Promises{HeldWithin: 10 * time.Second})
			w.sees(2, "g1", event.JobChanged{Job: one, To: message.JobSubmitted})
			w.at = 28 * time.Second
			w.Finish(28*time.Second, time.Minute)
			return w
		}},
		{"a job whose owner's window has shut", "T11", func() *world {
			w := watch(within).grant(1, "g1", 1, 1, 0)
			w.Promise(checker.Promises{HeldWithin: 10 * time.Second})
			w.sees(2, "g1", event.JobChanged{Job: one, To: message.JobSubmitted})
			w.at = 45 * time.Second
			w.Finish(45*time.Second, time.Minute)
			return w
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := tc.got()
			w.Settle()
			got := w.Violations()
			if tc.want == "" && len(got) != 0 || tc.want != "" && (len(got) != 1 || got[0].Invariant != tc.want) {
				t.Fatalf("want %q, got %v", tc.want, got)
			}
		})
	}
}

// staleHolderRead: g1, whose clock has stopped, answers with a value that g2 has replaced.
func staleHolderRead(w *world) *world {
	call := uint64(0)
	do := func(second int, id node.ID, what string, token message.LeaseToken, value uint64) {
		call++
		w.sees(second, id, event.LeaseCalled{Group: "gates", Job: one, Call: call, What: what, Token: token, Value: value})
		w.sees(second, id, event.LeaseReturned{Group: "gates", Job: one, Call: call, OK: true, Token: token, Value: value})
	}
	t1, t2 := message.LeaseToken{Epoch: 1, Ordinal: 1}, message.LeaseToken{Epoch: 2, Ordinal: 2}
	do(1, "g1", "acquire", t1, 10)
	do(2, "g2", "acquire", t2, 10)
	do(3, "g2", "update", t2, 11)
	do(4, "g1", "read-held", t1, 10)
	return w
}

func TestReachedIsCounted(t *testing.T) {
	s := tell().on("g1", event.Reached{What: "lease/b"}).on("g2", event.Reached{What: "lease/a"}).on("g1", event.Reached{What: "lease/b"})
	if diff := cmp.Diff(map[string]int{"lease/a": 1, "lease/b": 2}, s.Reached()); diff != "" {
		t.Fatal(diff)
	}
}

func TestExplainShowsTheFirstPartitionThatFails(t *testing.T) {
	records := read(t, "testdata/rejected-T4-update-lost-by-its-successor.jsonl")
	text, page := checker.Explain(records, checker.Assumptions{})
	for _, want := range []string{"lease register gates/", "acquire(2/2) -> a by g2", "update(b under 1/1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	if !bytes.Contains(page, []byte("<html")) {
		t.Error("there is no page")
	}
	text, page = checker.Explain(read(t, "testdata/accepted-register-in-turn.jsonl"), checker.Assumptions{})
	if !strings.Contains(text, "is linearizable") || page != nil {
		t.Errorf("all is well: got %q and %d bytes of page", text, len(page))
	}
}

func TestLinearTellsEveryObjectThatFailed(t *testing.T) {
	c := checker.New()
	for _, file := range []string{"rejected-T4-two-results", "rejected-T4-stale-read", "accepted-open-update-was-lost"} {
		for _, r := range read(t, "testdata/"+file+".jsonl") {
			if e, ok := r.Event.(event.LeaseCalled); ok && file[0] == 'a' { // a separate register
				e.Job, r.Event = message.JobID{9}, e
			}
			c.Observe(r)
		}
		c.Died("g1")
		c.Died("g2")
	}
	c.Settle()
	var got []string
	for _, v := range c.Linear() {
		what, _, _ := strings.Cut(v.Detail, " ")
		got = append(got, v.Invariant+" "+what)
	}
	if diff := cmp.Diff([]string{"T4 lease", "T4 job"}, got); diff != "" {
		t.Fatal(diff, c.Linear())
	}
}

func read(t testing.TB, file string) (all []checker.Record) {
	b := open(t, file)
	defer b.Close()
	if err := history.Read(b, func(r checker.Record) { all = append(all, r) }); err != nil {
		t.Fatal(err)
	}
	return all
}
