package manager

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// answerTo is the manager's newest answer to its gate about a job.
func (d *desk) answerTo(job message.JobID) (accepted bool, code message.Code, detail string) {
	for _, m := range d.sent[d.gate] {
		switch m := m.(type) {
		case *message.JobAccepted:
			if m.Job == job {
				accepted, code = true, message.CodeNone
			}
		case *message.JobRefused:
			if m.Job == job {
				accepted, code, detail = false, m.Code, m.Detail
			}
		}
	}
	return accepted, code, detail
}

// A manager accepts a valid subjob while it has room and is not drained; otherwise it refuses
// with the reason. A cancellation that arrives before its dispatch takes room, too, and the
// manager sheds it if there is none. A drain order survives restarts and failing disks until an
// undo; one for a worker or another manager goes there.
func TestSubjobsFindRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 3).Draw(t, "subjobs_max")
		d := newDesk(t, func(c *Config) {
			c.SubjobsMax, c.SweepInterval, c.Silence = most, time.Second, 8*time.Minute
		}, "w1")
		ordered, stored := false, false
		taken := map[byte]bool{} // jobs that have room here
		restart := func() {
			d.Failure = nil
			d.Crash()
			d.sent = map[node.StreamID][]node.Message{}
			d.Start()
			d.gate = d.OpeningTo("g1:1")[0]
			d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
			d.arrive("w1")
			d.Advance(time.Second)
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			d.forget()
			n := byte(rapid.IntRange(1, 9).Draw(t, "job"))
			job := message.JobID{n}
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1, 2:
				plan := message.Plan{Source: "f", Workflows: []message.WorkflowPlan{{Name: "a", Test: true, VUs: 8, Timeout: time.Second, Cores: 9, Steps: home()}}}
				bad, attempt := rapid.IntRange(0, 4).Draw(t, "bad plan") == 0, rapid.SampledFrom([]uint64{0, 0, 0, 0, 1}).Draw(t, "attempt")
				if bad {
					plan.Workflows[0].Cores = 1 << 30
				}
				d.Receive(d.gate, &message.JobDispatch{
					Job: job, Fence: message.Fence{JobEpoch: 1, Attempt: attempt}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour, Plan: plan,
				})
				want := message.CodeNone
				switch {
				case taken[n] && attempt != 0:
					want = message.CodeBadPlan
				case taken[n]:
				case ordered:
					want = message.CodeDraining
				case len(taken) >= most:
					want = message.CodeQueueFull
				case bad || attempt != 0:
					want = message.CodeBadPlan
				case d.Failure != nil:
					want = message.CodeStoreFull
				default:
					taken[n] = true
				}
				if want == message.CodeStoreFull && rapid.Bool().Draw(t, "the archive is full") {
					d.keepsNothing()
				} else if want == message.CodeStoreFull {
					d.live(5, nil, "w1") // the archive keeps trying for a while
				}
				accepted, code, detail := d.answerTo(job)
				if !accepted && code == message.CodeNone {
					d.live(5, nil, "w1") // it failed a moment ago, and tries again
					accepted, code, detail = d.answerTo(job)
				}
				if want == message.CodeStoreFull && code == message.CodeQuorumUnavailable {
					want = code // it is in the memory of a disk that takes nothing
				}
				if accepted != (want == message.CodeNone) || code != want || !accepted && detail == "" {
					t.Fatalf("job %d, %d of %d are taken, drained: %v, disk: %v: accepted %v, refused %v (%s), want %v", n, len(taken), most, ordered, d.Failure, accepted, code, detail, want)
				}
			case 3:
				if d.Failure != nil || taken[n] {
					continue
				}
				wrong := rapid.Bool().Draw(t, "says no end")
				c := &message.SubjobCancel{Job: job, Fence: message.Fence{JobEpoch: 1}, State: message.JobCancelled}
				if wrong {
					c.State = message.JobCompleted
				}
				d.Receive(d.gate, c)
				if room := !wrong && !ordered && len(taken) < most; room != (len(took[*message.SubjobResult](d, d.gate)) > 0) {
					t.Fatalf("the cancellation of job %d, %d of %d are taken, drained: %v: it is told as ended: %v", n, len(taken), most, ordered, !room)
				} else if room {
					taken[n] = true
					before := logbook(d.m) // it has no workflow to abort
					d.Receive(d.gate, &message.SubjobAbort{Job: job, Fence: message.Fence{JobEpoch: 1}, Reason: "errors"})
					if logbook(d.m) != before {
						t.Fatal("an abort changes a subjob that ended before its dispatch")
					}
				}
			case 4:
				to := rapid.SampledFrom([]string{"m1", "m1", "m1", "w1", "w9"}).Draw(t, "node")
				o := &message.Drain{Node: to, Undo: rapid.Bool().Draw(t, "undo")}
				d.Receive(d.gate, o)
				if got := took[*message.Drain](d, d.up["w1"]); (len(got) == 1) != (to == "w1") || len(got) == 1 && *got[0] != *o {
					t.Fatalf("the order %+v: w1 is told %+v", o, got)
				}
				if to == "m1" && ordered == o.Undo {
					ordered = !o.Undo
					if d.Failure == nil {
						stored = ordered
					}
				}
			case 5:
				d.Failure = nil
				if rapid.Bool().Draw(t, "disk fails") {
					d.Failure = errors.New("full")
				}
			case 6:
				for range 3 { // the sweep writes again what the disk refused
					d.live(1, nil, "w1")
				}
				if d.Failure == nil {
					stored = ordered
				}
			case 7:
				restart()
				ordered = stored
				//lint:orderfree a part whose record is on disk is held again
				for n := range taken {
					if d.m.subjobs[message.JobID{n}] == nil {
						t.Fatalf("job %d is not here after a restart", n)
					}
				}
			}
			if d.m.draining != ordered {
				t.Fatalf("it drains: %v, want %v", d.m.draining, ordered)
			}
		}
	})
}

// The newest drain order survives restarts once the disk has it. At its next sweep the manager
// writes again what the disk refused.
func TestOrdersHoldOverRestarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) { c.SweepInterval, c.Silence = time.Second, 8*time.Minute })
		ordered, stored := false, false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				undo := rapid.Bool().Draw(t, "undo")
				d.Receive(d.gate, &message.Drain{Node: "m1", Undo: undo})
				if ordered == undo {
					ordered = !undo
					if d.Failure == nil {
						stored = ordered
					}
				}
			case 1:
				d.Failure = nil
				if rapid.Bool().Draw(t, "disk fails") {
					d.Failure = errors.New("full")
				}
			case 2:
				if d.Advance(2 * time.Second); d.Failure == nil {
					stored = ordered
				}
			case 3:
				d.Failure = nil
				d.Crash()
				d.Start()
				d.gate = d.OpeningTo("g1:1")[0]
				d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
				ordered = stored
			}
			if d.m.draining != ordered {
				t.Fatalf("it drains: %v, want %v", d.m.draining, ordered)
			}
		}
	})
}

// An order goes only to the manager that it names, and that manager stores it on disk.
func TestOrdersGoToAFellow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dc := newDatacenter(t, 3)
		dc.run(3 * time.Second)
		by, to := rapid.IntRange(0, 2).Draw(rt, "by"), rapid.IntRange(0, 2).Draw(rt, "to")
		dc.managers[by].machine.(*Machine).onDrainOrder(dc.managers[by], &message.Drain{Node: string(dc.managers[to].peer.ID)})
		dc.run(time.Second)
		for i, h := range dc.managers {
			if got := h.machine.(*Machine).operator.drains; got != (i == to) || got != strings.Contains(string(h.disk[keyDraining]), "\x01") {
				rt.Fatalf("%v is ordered to drain: %v, want %v; its disk has %q", h, got, i == to, h.disk[keyDraining])
			}
		}
	})
}

// An operator stops a manager that holds subjobs, and then stops it again or waits. It takes no
// new subjob, and halts: at once with nothing to do or at the second stop, otherwise when its
// subjobs have ended or its time is over.
func TestStopsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) { c.Silence = 8 * time.Minute }, "w1")
		busy := rapid.Bool().Draw(t, "it has a subjob")
		if busy {
			d.submit(2)
			d.accept("w1")
		}
		over := map[message.ShardRef]bool{}
		ends := rapid.IntRange(0, 40).Draw(t, "the subjob ends after")
		second := rapid.IntRange(1, 40).Draw(t, "the second stop comes after")
		d.Stop()
		if d.Running() != busy {
			t.Fatalf("it has a subjob: %v, and it runs on: %v", busy, d.Running())
		}
		left := min(ends, second, int(d.m.config.DrainTimeout/time.Second))
		for s := range 60 {
			if !d.Running() {
				break
			}
			switch {
			case s == second:
				d.Stop()
			case s == ends:
				s := d.attempt("w1")
				over[message.ShardRef{Shard: s.Shard, Fence: s.Fence}] = true
				d.finishes("w1", message.WorkflowCompleted)
			default:
				d.Advance(time.Second)
				if d.Running() {
					d.listed(over, "w1")
				}
			}
			if r := took[*message.SubjobResult](d, d.gate); len(r) > 0 && d.Running() {
				d.Receive(d.gate, &message.SubjobResultAck{Job: r[0].Job, Fence: r[0].Fence})
			}
			if d.Running() && s > left+3 {
				t.Fatalf("it runs %d s after the stop; the subjob ends after %d s, the second stop comes after %d s", s, ends, second)
			}
		}
	})
}

// A cancellation arrives before its dispatch, on a slow disk, and the manager restarts at any
// moment. When the gate repeats the cancellation, the subjob ends, and the gate hears of one
// end.
func TestCancelledBeforeItsDispatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) { c.Silence = 8 * time.Minute })
		c := &message.SubjobCancel{Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 1}, State: message.JobCancelled}
		ends := map[message.JobState]bool{}
		note := func(s node.StreamID, m node.Message) {
			d.sent[s] = append(d.sent[s], m)
			if r, ok := m.(*message.SubjobResult); ok {
				ends[r.Subjob.State] = true
			}
		}
		d.WatchSend = note
		d.Held = true
		d.Receive(d.gate, c)
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			d.Complete(1, nil)
		}
		if rapid.Bool().Draw(t, "restart") {
			d.Crash()
			d.sent, d.Held = map[node.StreamID][]node.Message{}, rapid.Bool().Draw(t, "still slow")
			d.Start()
			d.gate = d.OpeningTo("g1:1")[0]
			d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
		}
		d.Receive(d.gate, c)
		d.Held = false
		for range 10 {
			for d.Pending() > 0 {
				d.Complete(1, nil)
			}
			d.Advance(time.Second)
			d.Receive(d.gate, c)
		}
		if len(ends) != 1 || !ends[message.JobCancelled] {
			t.Fatalf("its ends are %v, want CANCELLED alone", ends)
		}
	})
}

// A cancellation reaches a manager that restarts while it takes the subjob over. The record
// decides: the manager refuses a former gate's cancellation, and any other ends the subjob.
func TestCancelsMeetTheRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) { c.Silence = 8 * time.Minute }, "w1")
		p := d.submit(2)
		epoch := rapid.Uint64Range(1, 4).Draw(t, "epoch")
		d.Receive(d.gate, &message.SubjobAbort{Job: p.Job, Fence: message.Fence{JobEpoch: epoch}, Workflow: 9, Reason: "none"})
		dispatch := *p.Dispatch
		dispatch.Fence.JobEpoch = epoch
		d.Receive(d.gate, &dispatch)
		d.Crash()
		d.sent = map[node.StreamID][]node.Message{}
		d.Held = true
		d.Start()
		d.gate = d.OpeningTo("g1:1")[0]
		d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			d.Complete(1, nil)
		}
		by := rapid.Uint64Range(1, 4).Draw(t, "cancelled by")
		claimed := d.m.claims[p.Job] != nil
		d.Receive(d.gate, &message.SubjobCancel{Job: p.Job, Fence: message.Fence{JobEpoch: by}, State: message.JobCancelled, Reason: "asked"})
		d.Held = false
		for range 4 {
			for d.Pending() > 0 {
				d.Complete(1, nil)
			}
			d.Advance(time.Second)
		}
		now := d.m.subjobs[p.Job]
		if now == nil {
			t.Fatal("the subjob is not here")
		}
		if cancelled := now.Stop.Decided != message.JobNone; claimed && cancelled != (by >= epoch) {
			t.Fatalf("the record has epoch %d, the cancellation %d; it is cancelled: %v", epoch, by, cancelled)
		}
		refused := took[*message.JobRefused](d, d.gate)
		if claimed && (len(refused) > 0 && refused[0].Code == message.CodeStaleFence && refused[0].Current.JobEpoch == epoch) != (by < epoch) {
			t.Fatalf("the record has epoch %d, the cancellation %d; the refusals are %+v", epoch, by, refused)
		}
	})
}
