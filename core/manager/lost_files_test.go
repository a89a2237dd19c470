package manager

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/ledger"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// losing is a manager that takes over a subjob of which its disk has lost a file.
type losing struct {
	*desk
	rt      *rapid.T
	epoch   uint64       // of the gate that owns the job now
	renewed node.Instant // when it last renewed a shard
	ends    []*message.SubjobResult
	at      node.Instant // of the first end
	ending  bool
}

// stages name how far a subjob of two layers is when its manager crashes.
func stages() []string { return []string{"runs", "has a counted result", "has ended"} }

// layered is a dispatch of a subjob of two layers.
func layered(epoch uint64) *message.JobDispatch {
	return &message.JobDispatch{
		Job: message.JobID{1}, Fence: message.Fence{JobEpoch: epoch}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour,
		Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{
			{Name: "a", Test: true, VUs: 8, Timeout: time.Second, Cores: 2, Steps: home()},
			{Name: "b", Test: true, VUs: 8, Timeout: time.Second, Cores: 2, Steps: home(), Depends: []uint32{0}, Layer: 1},
		}},
	}
}

// play gives a subjob to a manager up to the stage, and deletes one file on the manager's disk.
func (l *losing) play(stage string) (lost string) {
	l.Receive(l.gate, layered(1))
	for _, s := range stages() {
		ref := l.accept("w1")
		if s == stage {
			break
		}
		l.Receive(l.up["w1"], &message.ShardResult{Shard: ref.Shard, Fence: ref.Fence, State: message.WorkflowCompleted})
		if stage == "has ended" && ref.Shard.Workflow == 1 {
			break
		}
	}
	p := l.m.subjobs[message.JobID{1}]
	files := map[string]message.FileDigest{}
	seen, _ := l.m.group.Leases.Seen(l.Now(), p.Job)
	if spill, ok := subjob.SpillOf(seen.Record); ok {
		files["the record"] = spill
	}
	if p.Kept != (message.FileDigest{}) {
		files["the result of the job"] = p.Kept
	} else {
		files["program"] = p.File
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				if s.Kept != nil {
					files["result of shard"] = s.Kept.File
				}
			}
		}
	}
	names := []string{"the record", "program", "result of shard", "the result of the job"}
	lost = rapid.SampledFrom(names).Filter(func(n string) bool { return files[n] != message.FileDigest{} }).Draw(l.rt, "lost")
	l.Crash()
	for _, key := range l.Disk() {
		if d := files[lost].String(); strings.HasPrefix(key, "file/dc1/"+d) {
			l.LoseRecords(key)
		}
	}
	return lost
}

// watch plays the gate that owns the job: it rejects a lower epoch and names its own, and
// acknowledges the end when the test says so.
func (l *losing) watch(_ node.StreamID, m node.Message) {
	switch m := m.(type) {
	case *message.ShardDispatch, *message.ShardRowsLeased:
		l.rt.Fatalf("it sends %+v", m)
	case *message.HeartbeatAck:
		if len(m.Shards) > 0 {
			l.renewed = l.Now()
		}
	case *message.SubjobResult:
		if l.at == 0 {
			l.at = l.Now()
		}
		l.ends = append(l.ends, m)
	}
}

// see asserts that the subjob stays as it is after the manager began its end.
func (l *losing) see(e node.Event) {
	switch e := e.(type) {
	case event.SubjobChanged:
		l.ending = true
	case event.WorkflowChanged, event.ShardLost, event.ShardCounted:
		if l.ending {
			l.rt.Fatalf("it begins the end, and then %+v", e)
		}
	}
}

// A manager takes over a subjob, and no disk has a file that its record names: the record
// itself, the program, a counted result, or the subjob's result. It dispatches nothing. After
// GoneMax rounds, and once its workers have stopped the shards, it reports FAILED under the
// epoch of the gate that owns the job, whether or not a gate sends an order. After the
// acknowledgement nothing of it is left.
func TestSubjobsWithoutTheirFilesEnd(t *testing.T) {
	met := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		l := &losing{rt: rt}
		l.desk = newDesk(t, func(c *Config) {
			c.Silence = 8 * time.Minute
			if rapid.Bool().Draw(rt, "records are files") {
				c.SpillAt = 1
			}
		}, "w1")
		met[l.play(rapid.SampledFrom(stages()).Draw(rt, "stage"))]++
		running := message.ShardRef{Shard: message.ShardID{Job: message.JobID{1}}, Fence: message.Fence{JobEpoch: 1}}
		if s := l.attempt("w1"); s != nil {
			running.Shard, running.Fence = s.Shard, s.Fence
		}
		l.epoch = rapid.Uint64Range(1, 3).Draw(rt, "epoch")
		orders := rapid.IntRange(-1, 20).Draw(rt, "second of an order")
		named := rapid.Bool().Draw(rt, "the gate names it")
		stalls := rapid.IntRange(9, 16).Draw(rt, "second in which the worker restarts and the disk stalls")
		l.forget()
		l.WatchSend, l.WatchEvent = l.watch, l.see
		l.Start()
		began := l.Now()
		l.gate = l.OpeningTo("g1:1")[0]
		l.Opened(l.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
		l.arrive("w1")
		for second := range 30 {
			var list []message.ShardRef
			if l.renewed > 0 && l.Now().Sub(l.renewed) < l.m.config.RenewalTimeout || second < 3 {
				list = append(list, running)
			}
			l.live(1, map[node.ID][]message.ShardRef{"w1": list}, "w1")
			if p := l.m.subjobs[running.Shard.Job]; named && p != nil {
				l.m.extend(p, l.Now())
			}
			if second == stalls {
				l.Held = true
				l.Break(l.up["w1"], "reset")
				l.up["w1"] = l.Accept(node.Peer{ID: "w1", Incarnation: 2, Role: node.RoleWorker, Addr: "w1:1"})
				l.lists("w1")
			}
			if second == stalls+1 {
				for l.Held = false; l.Pending() > 0; {
					l.Complete(1, nil)
				}
			}
			if second == orders {
				l.Receive(l.gate, layered(l.epoch))
			}
			for _, end := range l.ends {
				ack := &message.SubjobResultAck{Job: end.Job, Fence: end.Fence}
				if end.Fence.JobEpoch < l.epoch {
					ack.Stale, ack.Current = true, message.Fence{JobEpoch: l.epoch, SubjobEpoch: 1}
				}
				l.Receive(l.gate, ack)
			}
			if n := len(l.ends); n > 0 && l.m.subjobs[running.Shard.Job] == nil {
				break
			}
		}
		l.judge(began)
	})
	for _, name := range []string{"the record", "program", "result of shard", "the result of the job"} {
		if met[name] == 0 {
			t.Errorf("%s was never lost", name)
		}
	}
}

func (l *losing) judge(began node.Instant) {
	if len(l.ends) == 0 {
		l.rt.Fatal("it never ends")
	}
	end := l.ends[len(l.ends)-1]
	if end.Subjob.State != message.JobFailed || !strings.Contains(end.Subjob.Error, "submit the job again") || end.Fence.JobEpoch != l.epoch {
		l.rt.Fatalf("the gate of epoch %d gets %+v", l.epoch, end)
	}
	if after := l.at.Sub(began); after < (ledger.GoneMax-1)*l.m.config.Retry {
		l.rt.Fatalf("it is given up after %v", after)
	}
	if quiet := l.at.Sub(max(l.renewed, began)); quiet < l.m.config.patience() {
		l.rt.Fatalf("it ends %v after it renewed a shard", quiet)
	}
	if len(l.m.subjobs) > 0 || len(l.m.group.Leases.Held()) > 0 {
		l.rt.Fatal("it is held after its end was acknowledged")
	}
}

// A record names a file of another job, as a member that lies may write it. The manager that takes
// the subjob over counts none of its figures. It ends the subjob FAILED, says why, and is free of it
// after the acknowledgement.
func TestFilesOfAnotherJobCountNowhere(t *testing.T) {
	//lint:orderfree each is a cluster of its own
	for what, forge := range map[string]func(p, other *subjob.Subjob, program message.FileDigest){
		"the result of the job's share": func(p, other *subjob.Subjob, _ message.FileDigest) { p.Kept = other.Kept },
		"the job's program":             func(p, _ *subjob.Subjob, program message.FileDigest) { p.File = program },
		"the result of shard 0 of workflow 0": func(p, other *subjob.Subjob, _ message.FileDigest) {
			kept := *other.Workflows[0].Shards[0].Kept
			p.Workflows[0].Shards[0].Kept = &kept
		},
		"the last report of a lost attempt of shard 0 of workflow 0": func(p, other *subjob.Subjob, _ message.FileDigest) {
			lost := &subjob.Lost{File: other.Workflows[0].Shards[0].Kept.File}
			lost.Shard, lost.Attempt, lost.Counted = message.ShardID{Job: p.Job}, 1, true
			p.Workflows[0].Shards[0].Lost = append(p.Workflows[0].Shards[0].Lost, lost)
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, func(c *Config) { c.Silence = 8 * time.Minute }, "w1")
			dispatch := layered(1)
			dispatch.Job, dispatch.Plan.Workflows = message.JobID{2}, dispatch.Plan.Workflows[:1]
			d.Receive(d.gate, dispatch)
			other := d.m.subjobs[dispatch.Job]
			program := other.File
			ref := d.accept("w1")
			d.Receive(d.up["w1"], &message.ShardResult{Shard: ref.Shard, Fence: ref.Fence, State: message.WorkflowCompleted})
			p := d.submit(2)
			running := d.accept("w1")
			forge(p, other, program)
			d.m.commit(p, tag{})
			d.live(1, map[node.ID][]message.ShardRef{"w1": {running}}, "w1")
			d.Crash()
			d.forget()
			d.Start()
			d.gate = d.OpeningTo("g1:1")[0]
			d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
			d.arrive("w1")
			d.live(60, nil, "w1")
			if p = d.m.subjobs[p.Job]; p == nil || p.Result == nil {
				t.Fatalf("it never ends: %+v", p)
			}
			if want := "the job's record names a file of another job as " + what + ": submit the job again"; p.Result.Job != p.Job || p.Result.Subjob.State != message.JobFailed || !strings.Contains(p.Result.Subjob.Error, want) {
				t.Fatalf("it ends as %+v, want FAILED: %s", p.Result, want)
			}
			if shards := took[*message.ShardDispatch](d, d.up["w1"]); len(shards) > 0 {
				t.Fatalf("it dispatches %+v", shards)
			}
			for _, end := range took[*message.SubjobResult](d, d.gate) {
				d.Receive(d.gate, &message.SubjobResultAck{Job: end.Job, Fence: end.Fence})
			}
			if len(d.m.subjobs) > 0 || len(d.m.group.Leases.Held()) > 0 {
				t.Fatal("it is held after its end was acknowledged")
			}
		})
	}
}
