package gate_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/window"
)

// A gate dispatches a subjob again once more than MissedMax consecutive heartbeats left it out.
// A heartbeat that names the subjob resets the count.
func TestSubjobsLeftOutInARowAreDispatchedAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := newListener(gate.Default(), client("c1"), managerPeer("m1"))
		e.says("m1")
		_, d := e.dispatched(rt, "m1")
		fence := message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 257}
		accept := func() { e.deliver("m1", &message.JobAccepted{Job: d.Job, Fence: fence}) }
		accept()
		row, want := 0, 1
		for range rapid.IntRange(1, 14).Draw(rt, "heartbeats") {
			if rapid.IntRange(0, 3).Draw(rt, "lists") == 0 {
				e.says("m1", message.SubjobRef{Job: d.Job, Fence: fence, State: message.JobRunning})
				row = 0
			} else {
				e.says("m1")
				row++
			}
			again := row > e.config.MissedMax
			if again {
				row, want = 0, want+1
			}
			if _, n := last[*message.JobDispatch](e, "m1"); n != want {
				rt.Fatalf("%d dispatches, want %d, after %d heartbeats in a row without the subjob", n, want, row)
			}
			if again {
				accept()
			}
		}
	})
}

// If a manager lists a subjob under a lower fence than the highest one, the gate does not let
// it continue. The gate keeps the highest fence.
func TestOnlyTheHighestListingIsRenewed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := newListener(gate.Default(), client("c1"), managerPeer("m1"), managerPeer("m2"))
		e.says("m1")
		e.says("m2")
		who, d := e.dispatched(rt, "m1", "m2")
		highest := uint64(257)
		e.deliver(string(who), &message.JobAccepted{Job: d.Job, Fence: message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: highest}})
		for range rapid.IntRange(1, 8).Draw(rt, "heartbeats") {
			id := rapid.SampledFrom([]node.ID{"m1", "m2"}).Draw(rt, "manager")
			f := message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 1 + 256*rapid.Uint64Range(1, 4).Draw(rt, "epoch")}
			e.says(id, message.SubjobRef{Job: d.Job, Fence: f, State: message.JobRunning})
			ack, _ := last[*message.HeartbeatAck](e, id)
			if renewed := len(ack.Subjobs) == 1; renewed != (f.SubjobEpoch >= highest) {
				rt.Fatalf("%v was heard, %s lists the subjob under %v: renewed is %v", highest, id, f, renewed)
			}
			if f.SubjobEpoch >= highest {
				highest, who = f.SubjobEpoch, id
			}
		}
		e.deliver("c1", &message.JobCancel{Request: e.ask(), Job: d.Job})
		if c, n := last[*message.SubjobCancel](e, who); n == 0 || c.Fence.SubjobEpoch != highest {
			rt.Fatalf("%s holds the subjob under %d and was sent the cancel %+v", who, highest, c)
		}
	})
}

// A status shows the progress with the highest number under the highest fence, and of two with
// one number the first.
func TestProgressIsTakenOncePerNumber(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := newListener(gate.Default(), client("c1"), managerPeer("m1"))
		e.says("m1")
		_, d := e.dispatched(rt, "m1")
		epoch, sequence, want := uint64(257), uint64(0), uint64(0)
		e.deliver("m1", &message.JobAccepted{Job: d.Job, Fence: message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: epoch}})
		for i := range rapid.IntRange(1, 12).Draw(rt, "messages") {
			f := message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 1 + 256*rapid.Uint64Range(1, 3).Draw(rt, "epoch")}
			n := rapid.Uint64Range(1, 4).Draw(rt, "number")
			started := uint64(i + 1)
			e.deliver("m1", &message.JobProgress{Job: d.Job, Fence: f, Sequence: n, Subjob: message.DatacenterResult{
				Name: "a", State: message.JobRunning, Workflows: []message.WorkflowResult{{Name: "load", State: message.WorkflowRunning, Stats: message.Stats{
					Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: started, OK: started}},
				}}},
			}})
			if f.SubjobEpoch > epoch {
				epoch, sequence = f.SubjobEpoch, 0
			}
			if f.SubjobEpoch == epoch && n > sequence {
				sequence, want = n, started
			}
			e.deliver("c1", &message.JobQuery{Request: e.ask(), Job: d.Job})
			s, _ := last[*message.JobStatus](e, "c1")
			var got uint64
			if w := s.Datacenters[0].Workflows; len(w) > 0 {
				got = w[0].Stats.Steps[0].Started
			}
			if got != want {
				rt.Fatalf("progress %d under %v: the status shows message %d, want %d", n, f, got, want)
			}
		}
	})
}

// A watcher gets each progress report within PushInterval, not only the first.
func TestWatchersAreToldEachProgress(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := newListener(gate.Default(), client("c1"), managerPeer("m1"))
		e.says("m1")
		_, d := e.dispatched(rt, "m1")
		fence := message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 257}
		e.deliver("m1", &message.JobAccepted{Job: d.Job, Fence: fence})
		e.deliver("c1", &message.JobWatch{Request: e.ask(), Job: d.Job})
		for n := range rapid.Uint64Range(2, 5).Draw(rt, "messages") {
			e.deliver("m1", &message.JobProgress{Job: d.Job, Fence: fence, Sequence: n + 1, Subjob: message.DatacenterResult{
				Name: "a", Workflows: []message.WorkflowResult{{Name: "load", State: message.WorkflowRunning, VUs: n + 1}},
			}})
			if rapid.Bool().Draw(rt, "more") {
				continue
			}
			e.world.Advance(e.config.PushInterval)
			if s, _ := last[*message.JobStatus](e, "c1"); len(s.Datacenters) != 1 || len(s.Datacenters[0].Workflows) != 1 || s.Datacenters[0].Workflows[0].VUs != n+1 {
				rt.Fatalf("progress %d is not shown after %v: %+v", n+1, e.config.PushInterval, s.Datacenters)
			}
		}
	})
}

// A gate waits AnswerTimeout for a manager that sends heartbeats but never answers a dispatch.
// Then it asks another manager, and not earlier.
func TestUnansweredDispatchesGoToAnotherManager(t *testing.T) {
	c := gate.Default()
	e := newListener(c, client("c1"), managerPeer("m1"), managerPeer("m2"))
	e.says("m1")
	e.says("m2")
	first, _ := e.dispatched(t, "m1", "m2")
	other := node.ID("m1")
	if first == other {
		other = "m2"
	}
	asked := time.Duration(0)
	for at := time.Duration(0); at < 2*c.AnswerTimeout; at += 100 * time.Millisecond {
		if at%time.Second == 0 {
			e.says("m1")
			e.says("m2")
		}
		if _, n := last[*message.JobDispatch](e, other); n > 0 && asked == 0 {
			asked = at
		}
		e.world.Advance(100 * time.Millisecond)
	}
	if asked < c.AnswerTimeout || asked > c.AnswerTimeout+c.AnswerTimeout/8+100*time.Millisecond {
		t.Errorf("%s never answered, and %s was asked after %v: want %v, or an eighth later", first, other, asked, c.AnswerTimeout)
	}
	for _, id := range []node.ID{first, other} {
		if _, n := last[*message.JobDispatch](e, id); n != 1 {
			t.Errorf("%s was sent its dispatch %d times on a stream that stands", id, n)
		}
	}
}

// A gate that takes a subjob over counts it as in use for a guard, even if managers refuse it:
// the former gate may have named it. Each time this gate names the subjob, a new guard begins.
func TestSubjobsOfAFormerGateStayForAGuard(t *testing.T) {
	guard := window.Terms{Word: 2 * gate.Default().Lease, Renewal: gate.Default().RenewalTimeout, DriftPPM: gate.Default().DriftPPM}.Guard()
	rapid.Check(t, func(rt *rapid.T) {
		peers := []node.Peer{client("c1"), managerPeer("m1"), managerPeer("m2"), managerPeer("b1")}
		e := newListener(gate.Default(), peers...)
		e.says("m1")
		job := e.submission("k", nil, 2)
		job.RunTimeout = time.Hour
		e.deliver("c1", job)
		d, n := last[*message.JobDispatch](e, "m1")
		if n == 0 {
			rt.Fatal("the job was not dispatched")
		}
		old := message.SubjobRef{Job: d.Job, Fence: message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 257}, State: message.JobRunning}
		e.world.Crash()
		e.world.Start()
		for _, p := range peers {
			e.world.Accept(p)
		}
		named, elsewhere := e.world.Now(), false
		elsewhereSays := func() { // it has more room: a queued job goes there
			e.beats++
			e.deliver("b1", &message.ManagerHeartbeat{Datacenter: "b", Sequence: e.beats, CoresTotal: 64, CoresFree: 64, WorkerSum: 2})
		}
		refuse := func(id node.ID) {
			if d, _ := last[*message.JobDispatch](e, id); d != nil {
				e.deliver(string(id), &message.JobRefused{Job: d.Job, Fence: d.Fence, Code: message.CodeNoCores})
			}
		}
		for end := e.world.Now().Add(2 * guard); e.world.Now() < end && !elsewhere; {
			e.says("m2")
			elsewhereSays()
			if rapid.IntRange(0, 40).Draw(rt, "m1 lists") == 0 {
				e.says("m1", old)
				if ack, _ := last[*message.HeartbeatAck](e, "m1"); ack != nil && len(ack.Subjobs) > 0 {
					named = e.world.Now()
				}
			}
			for _, id := range []node.ID{"m1", "m2"} {
				if rapid.IntRange(0, 3).Draw(rt, "refuses") > 0 {
					refuse(id)
				}
			}
			e.world.Advance(time.Duration(rapid.IntRange(500, 4500).Draw(rt, "ms")) * time.Millisecond)
			_, n := last[*message.JobDispatch](e, "b1")
			if elsewhere = n > 0; elsewhere && e.world.Now().Sub(named) < guard {
				rt.Fatalf("datacenter b has the subjob %v after a gate may have named it in a, the guard is %v", e.world.Now().Sub(named), guard)
			}
		}
		for range 40 {
			if _, n := last[*message.JobDispatch](e, "b1"); n > 0 {
				return
			}
			e.says("m1")
			e.says("m2")
			elsewhereSays()
			refuse("m1")
			refuse("m2")
			e.world.Advance(2 * time.Second)
		}
		rt.Fatalf("%v after a gate named it, the subjob is still in use", e.world.Now().Sub(named))
	})
}

// A gate whose subjobs are more than it can hear twice a second tells managers how often they report.
func TestManagersAreToldHowOftenTheyReport(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := gate.Default()
		c.ReportsMax = 1
		e := newListener(c, client("c1"), managerPeer("m1"))
		e.says("m1")
		if ack, _ := last[*message.HeartbeatAck](e, "m1"); ack.Every != 0 {
			rt.Fatalf("without a job it asks for a report each %v", ack.Every)
		}
		_, d := e.dispatched(rt, "m1")
		e.says("m1", message.SubjobRef{Job: d.Job, Fence: message.Fence{JobEpoch: d.Fence.JobEpoch, SubjobEpoch: 257}, State: message.JobRunning})
		if ack, _ := last[*message.HeartbeatAck](e, "m1"); ack.Every != time.Second {
			rt.Fatalf("for one job and one report a second it asks for a report each %v", ack.Every)
		}
	})
}
