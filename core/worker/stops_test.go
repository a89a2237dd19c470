package worker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker/outbox"
)

// A worker is stopped while shards are in any phase, and stopped twice more. It takes
// nothing more; it halts once all has ended and is acknowledged, or else within
// its time; whoever does not end is killed, and said to be; no result on disk is lost.
func TestStopsEndWhateverRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) { c.Silence, c.OutboxMax = time.Hour, 8 })
		const late = 9 // it is dispatched after the stop
		obeys := rapid.Bool().Draw(t, "executors obey")
		acks := rapid.Bool().Draw(t, "results are acknowledged")
		killed := map[node.ExecID]bool{}
		d.WatchKill = func(id node.ExecID) { killed[id] = true }
		stopped := false
		d.WatchEvent = func(e node.Event) {
			if e, ok := e.(event.ShardStarted); ok && stopped && e.Shard.Ordinal == late {
				t.Fatalf("%v starts after the stop", e.Shard)
			}
		}
		var results []*message.ShardResult
		watch := func(_ node.StreamID, m node.Message) {
			switch m := m.(type) {
			case *message.ShardResult:
				results = append(results, m)
			case *message.ShardAccepted:
				if stopped && m.Shard.Ordinal == late {
					t.Fatalf("%v is accepted after the stop", m.Shard)
				}
			}
		}
		d.WatchSend = watch
		for n := range uint32(rapid.IntRange(0, 3).Draw(t, "shards")) {
			d.Held = d.Held || rapid.IntRange(0, 2).Draw(t, "fence is on its way") == 0
			x := d.dispatch(0, n, 1, 1)
			if x != nil && !d.Held && rapid.IntRange(0, 2).Draw(t, "ended") == 0 {
				d.finish(x, message.WorkflowCompleted)
			}
			if rapid.IntRange(0, 2).Draw(t, "again") == 0 {
				d.dispatch(0, n, 2, 1)
			}
		}
		stopped = true
		d.Stop()
		if d.Running() && rapid.Bool().Draw(t, "disk goes on") {
			d.Held = false
			for d.Pending() > 0 {
				d.Complete(1, nil)
			}
		}
		if d.Running() {
			refused := 0
			d.WatchSend = func(_ node.StreamID, m node.Message) {
				if r, ok := m.(*message.ShardRefused); ok && r.Code == message.CodeDraining {
					refused++
				}
			}
			if d.dispatch(1, late, 1, 1); refused != 1 {
				t.Fatalf("a dispatch after the stop is refused %d times", refused)
			}
			d.WatchSend = watch
		}
		began := d.Now()
		second := rapid.IntRange(0, 3).Draw(t, "second stop")
		for s := 0; d.Running() && s < 60; s++ {
			if (s == second || s == second+1) && d.Running() { // the third one waits for nobody
				d.Stop()
			}
			for _, id := range d.Execs() {
				if obeys && d.Running() {
					d.ExecSays(id, &message.ExecResult{State: message.WorkflowCancelled})
					d.ExecGone(id, "", "")
				}
			}
			for _, r := range results {
				if acks && d.Running() {
					d.Receive(d.to[0], &message.ShardResultAck{Shard: r.Shard, Fence: r.Fence})
				}
			}
			results = nil
			if d.Running() {
				d.Advance(time.Second)
			}
		}
		c := d.m.config
		if most := c.DrainTimeout + c.KillGrace + c.Heartbeat + time.Second; d.Running() || d.Now().Sub(began) > most {
			t.Fatalf("it runs: %v, %v after the stop, want at most %v", d.Running(), d.Now().Sub(began), most)
		}
		for _, id := range d.Execs() {
			if !killed[id] {
				t.Fatalf("executor %v was not killed, and its worker is gone", id)
			}
		}
		for _, x := range d.m.outbox.All() {
			if x.Copy == outbox.Written && !strings.Contains(strings.Join(d.Disk(), " "), keyOf(prefixResult, x.Result.Shard)) {
				t.Fatalf("the result of %v is not on disk", x.Result.Shard)
			}
		}
	})
}

// One shard is dispatched under higher and higher fences while a slow disk takes some of
// them and refuses others, and executors end in any way. Whatever becomes of it, one
// attempt runs at a time, none below the fence on disk, and all cores come free.
func TestOneShardUnderManyFences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		attempt := uint64(0)
		shard := message.ShardID{Job: message.JobID{1}}
		fence := func() message.Fence { return message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: max(1, attempt)} }
		alive := func() {
			for i, s := range m.world.StreamsOf("m1") {
				if sent := m.beats[s]; i == 0 && len(sent) > 0 {
					m.heard = max(m.heard, sent[len(sent)-1])
					m.world.Receive(s, &message.HeartbeatAck{Sequence: uint64(len(sent)), Shards: []message.ShardRef{{Shard: shard, Fence: fence()}}})
				}
			}
		}
		dispatch := func(t *rapid.T) {
			alive()
			attempt++
			m.receive(&message.ShardDispatch{
				Shard: shard, Fence: fence(), Workflow: "w", Program: message.Program{Main: "f"}, PlanDigest: 1, VUs: 4, Cores: rapid.Uint32Range(1, 3).Draw(t, "cores"),
				RunTimeout: time.Duration(rapid.IntRange(0, 3).Draw(t, "timeout")) * time.Second,
			})
		}
		gone := func(t *rapid.T) {
			m.exec(t, func(id node.ExecID) {
				switch rapid.IntRange(0, 4).Draw(t, "end") {
				case 0:
					m.world.ExecSays(id, &message.ExecResult{State: message.WorkflowCancelled})
				case 1, 2:
					m.world.ExecSays(id, &message.ExecResult{State: message.WorkflowCompleted})
				}
				m.world.ExecGone(id, rapid.SampledFrom([]string{"", "killed"}).Draw(t, "reason"), strings.Repeat("line\n", rapid.SampledFrom([]int{0, 5, 9000}).Draw(t, "tail")))
			})
		}
		t.Repeat(map[string]func(*rapid.T){
			"dispatch": dispatch, "dispatch2": dispatch, "dispatch3": dispatch, "gone": gone, "gone2": gone,
			"again": func(*rapid.T) {
				m.receive(&message.ShardDispatch{Shard: shard, Fence: fence(), Workflow: "w", Program: message.Program{Main: "f"}, PlanDigest: 1, VUs: 4, Cores: 1})
			},
			"hold":     func(*rapid.T) { m.world.Held = true },
			"complete": func(*rapid.T) { m.world.Complete(1, nil) },
			"fail":     func(*rapid.T) { m.world.Complete(1, errors.New("full")) },
			"release": func(*rapid.T) {
				m.world.Held = false
				for m.world.Pending() > 0 {
					m.world.Complete(1, nil)
				}
			},
			"cancel": func(*rapid.T) {
				m.receive(&message.ShardCancel{Shard: shard, Fence: fence(), State: message.WorkflowCancelled})
			},
			"alive": func(*rapid.T) { alive() },
			"advance": func(t *rapid.T) {
				m.world.Advance(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
				m.connect()
			},
			"": func(*rapid.T) {
				m.world.Take()
				m.quiet()
				m.rests()
			},
		})
		m.settles()
	})
}

// rests judges the ledgers against a dumb count.
func (m *model) rests() {
	w := m.world.Machine().(*Machine)
	w.Rests(func(what string, n, _ int) {
		want := n
		switch what {
		case "worker/executors of executions":
			want = len(w.runs) // but for those that are gone
			if n < want {
				m.t.Fatalf("%s is %d, and %d executors run", what, n, want)
			}
		case "worker/cores that are taken":
			if want = len(m.owner); n < want {
				m.t.Fatalf("%s is %d, and %d are owned: %v", what, n, want, m.owner)
			}
		case "worker/cores of executions":
			if n < len(m.owner) {
				m.t.Fatalf("%s is %d, and %d are owned: %v", what, n, len(m.owner), m.owner)
			}
		}
	})
}

// Executors tell figures that add up, that do not, or that no frame holds together. The
// result says so and fails then; else it is their sum. A result that no manager takes is
// kept for fence_age, and an order to drain until the disk has it.
func TestResultsSayWhatExecutorsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const age = 20 * time.Second
		d := newDesk(t, func(c *Config) { c.Silence, c.FenceAge, c.SweepInterval = time.Hour, age, time.Second })
		var result *message.ShardResult
		d.WatchSend = func(_ node.StreamID, m node.Message) {
			if r, ok := m.(*message.ShardResult); ok {
				result = r
			}
		}
		ignored, want := 0, ""
		d.WatchEvent = func(e node.Event) {
			if _, ok := e.(event.Ignored); ok {
				ignored++
			}
		}
		x := d.dispatch(0, 1, 1, 2)
		sum := uint64(0)
		wide := rapid.IntRange(0, 3).Draw(t, "wide") == 0
		for i, r := range append([]*run(nil), x.runs...) {
			s := message.Stats{Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: uint64(i + 1), OK: uint64(i + 1)}}}
			sum += uint64(i + 1)
			if rapid.IntRange(0, 3).Draw(t, "torn") == 0 {
				s.Generator.Lag, want = message.Histogram{Count: 1}, "add up"
			}
			for n := 0; wide && n < 450; n++ {
				s.Steps = append(s.Steps, message.StepStats{Name: fmt.Sprint(i, n, strings.Repeat("s", 1170)), Kind: message.StepRequest})
			}
			if rapid.Bool().Draw(t, "progress") {
				d.ExecSays(r.id, &message.ExecProgress{Sequence: 1, Stats: s})
			}
			d.ExecSays(r.id, &message.ExecResult{State: message.WorkflowCompleted, Stats: s})
		}
		if wide && want == "" && len(x.runs) > 1 {
			want = "split the workflow"
		}
		d.Advance(time.Second)
		if (ignored > 0) != (want != "") {
			t.Fatalf("progress is told as ignored %d times; of the result is to be said: %q", ignored, want)
		}
		for _, r := range append([]*run(nil), x.runs...) {
			d.ExecGone(r.id, "", "")
		}
		switch {
		case result == nil:
			t.Fatal("no result is told")
		case want == "" && (result.State != message.WorkflowCompleted || result.Stats.Steps[0].Started != sum):
			t.Fatalf("%v with %+v, want COMPLETED with the sum %d", result.State, result.Stats.Steps, sum)
		case want != "" && (result.State != message.WorkflowFailed || !strings.Contains(result.Error, want) || len(result.Stats.Steps) > 0):
			t.Fatalf("%v with %d steps, %q; want FAILED, which says %q", result.State, len(result.Stats.Steps), result.Error, want)
		}
		d.Failure = errors.New("full")
		d.Receive(d.to[0], &message.Drain{Node: "w1"})
		d.Failure = nil
		wait := time.Duration(rapid.IntRange(1, 30).Draw(t, "seconds")) * time.Second
		d.Advance(wait)
		if kept := d.m.outbox.Len() > 0; kept && wait > age+time.Second || !kept && wait < age-time.Second {
			t.Fatalf("after %v the result is kept: %v", wait, kept)
		}
		if wait > time.Second && !strings.Contains(strings.Join(d.Disk(), " "), keyDraining) {
			t.Fatal("the disk does not have the order to drain")
		}
	})
}
