package checker_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// world tells a history second by second, and has the clocks of the nodes in it:
// they read real time times rate percent, unless they are down.
type world struct {
	*story
	rate map[node.ID]int64
	life map[node.ID]uint64 // 1 where it is not set; 0 is told by down
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

// sees tells an event at a second, of the incarnation that runs.
func (w *world) sees(second int, id node.ID, e node.Event) *world {
	w.at = time.Duration(second) * time.Second
	w.Observe(checker.Record{At: w.at, Node: id, Incarnation: max(1, w.life[id]), Event: e})
	return w
}

// grant is for thirty seconds of the node's own clock, by an attempt that began when
// it read began seconds.
func (w *world) grant(second int, id node.ID, epoch uint64, ordinal uint32, began int) *world {
	w.at = time.Duration(second) * time.Second
	return w.sees(second, id, event.LeaseGranted{
		Group: checker.GroupGates, Job: one, Token: message.LeaseToken{Epoch: epoch, Ordinal: ordinal},
		Until: w.clock(id).Add(30 * time.Second), Began: node.Instant(began) * node.Instant(time.Second),
	})
}

func TestClocksAndAssumptions(t *testing.T) {
	within, beyond := checker.Assumptions{}, checker.Assumptions{Beyond: true}
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
			w.Died("g1", w.at)
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

// staleHolderRead: g1, whose clock has stopped, answers with what g2 has replaced.
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

// Files of one machine's nodes become one history, in the order of its one clock.
func TestMergeOrdersFilesOfOneMachine(t *testing.T) {
	file := func(id node.ID, seconds ...int) *bytes.Reader {
		var b []byte
		for _, s := range seconds {
			var err error
			b, err = checker.AppendJSON(b, checker.Record{At: time.Duration(s) * time.Second, Node: id, Incarnation: 1, Event: event.Shed{}})
			if err != nil {
				t.Fatal(err)
			}
		}
		return bytes.NewReader(b)
	}
	all, err := checker.Merge(file("g1", 1, 3, 5), file("g2", 2, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range all {
		got = append(got, string(r.Node)+"@"+time.Duration(r.Local).String())
	}
	if diff := cmp.Diff("g1@1s g2@2s g1@3s g2@3s g2@4s g1@5s", strings.Join(got, " ")); diff != "" {
		t.Fatal(diff)
	}
	if _, err := checker.Merge(file("g1", 1), bytes.NewReader([]byte("hello\n"))); err == nil || !strings.Contains(err.Error(), "file 2: history line 1") {
		t.Fatalf("got %v, want it to name the file and its line", err)
	}
}

func TestExplainShowsTheFirstPartitionThatFails(t *testing.T) {
	history := read(t, "testdata/rejected-T4-update-lost-by-its-successor.jsonl")
	text, page := checker.Explain(history, checker.Assumptions{})
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
			if e, ok := r.Event.(event.LeaseCalled); ok && file[0] == 'a' { // a register of its own
				e.Job, r.Event = message.JobID{9}, e
			}
			c.Observe(r)
		}
		c.Died("g1", 0)
		c.Died("g2", 0)
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

// A call whose process died never returns, though its number is used again by the
// next incarnation.
func TestCallsEndWithTheirIncarnation(t *testing.T) {
	c := checker.New()
	tell := func(incarnation uint64, e node.Event) {
		c.Observe(checker.Record{Node: "c1", Incarnation: incarnation, Event: e})
	}
	tell(1, event.ClientCalled{Call: 1, What: "submit", Job: one, Payload: 5})
	tell(2, event.ClientCalled{Call: 1, What: "submit", Job: one, Payload: 5})
	tell(2, event.ClientReturned{Call: 1, What: "submit", Job: one, OK: true})
	tell(2, event.ClientCalled{Call: 2, What: "status", Job: one})
	tell(2, event.ClientReturned{Call: 2, What: "status", Job: one, OK: true, State: message.JobRunning})
	tell(2, event.ClientCalled{Call: 3, What: "submit", Job: one, Payload: 6})
	tell(3, event.ClientReturned{Call: 3, What: "submit", Job: one, OK: true})
	if c.Settle(); len(c.Violations()) != 0 {
		t.Fatalf("call 3 died with incarnation 2: got %v", c.Violations())
	}
}

// Attempts that had no answer do not keep a register from being judged: who begins
// another one hears no more of them.
func TestAttemptsWithoutAnswerAreOver(t *testing.T) {
	c := checker.New()
	number := uint64(0)
	call := func(what string, epoch, value uint64) event.LeaseReturned {
		number++
		token := message.LeaseToken{Epoch: epoch, Ordinal: 1}
		e := event.LeaseCalled{Group: "gates", Job: one, Call: number, What: what, Token: token, Value: value}
		c.Observe(checker.Record{Node: "g1", Incarnation: 1, Event: e})
		return event.LeaseReturned{Group: "gates", Job: one, Call: number, OK: true, Token: token, Value: value}
	}
	ends := func(e event.LeaseReturned) { c.Observe(checker.Record{Node: "g1", Incarnation: 1, Event: e}) }
	for epoch := range uint64(200) {
		call("acquire", 3*epoch+1, 7)
		ends(call("acquire", 3*epoch+2, 7))
		call("update", 3*epoch+2, 8)
	}
	if len(c.Violations()) != 0 {
		t.Fatal("all may have happened so: ", c.Violations())
	}
	ends(call("acquire", 1000, 9))
	for range 100 {
		ends(call("read", 1000, 9))
	}
	if got := c.Violations(); len(got) != 1 || got[0].Invariant != "T4" {
		t.Fatalf("nobody wrote 9, and it was judged without the end of the history: got %v", got)
	}
}

func read(t testing.TB, file string) (all []checker.Record) {
	b := open(t, file)
	defer b.Close()
	if err := checker.Read(b, func(r checker.Record) { all = append(all, r) }); err != nil {
		t.Fatal(err)
	}
	return all
}
