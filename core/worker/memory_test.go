package worker

import (
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node/nodetest"
	"hyperscale/core/worker/budget"
)

const mega = 1_000_000

// uses has an executor use so many percent of its budget.
func (d *desk) uses(r *run, percent uint64) {
	d.ExecSays(r.id, &message.ExecUsage{Memory: percent * mega, MemoryMax: 100 * mega})
}

func (d *desk) kills() int { return len(d.ExecCalls(nodetest.ExecKilled)) }

// A worker that was stopped for an hour does not know what its executors used meanwhile: it kills none
// for that. Awake, it kills one that is over its budget for five seconds, however often it is measured.
func TestAPauseOfTheWorkerIsNoTimeOverABudget(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.RenewalTimeout, c.Silence = 24*time.Hour, 24*time.Hour })
	x := d.dispatch(0, 1, 1, 1)
	d.uses(x.runs[0], 105)
	for range 5 {
		d.m.tick.Arm(d.Now().Add(-time.Hour), d.m.config.ProgressInterval) // an hour ago
		d.Advance(d.m.config.ProgressInterval)
		d.uses(x.runs[0], 105)
	}
	for range 9 {
		d.Advance(d.m.config.ProgressInterval)
		d.uses(x.runs[0], 105)
	}
	if d.kills() > 0 || x.phase != running {
		t.Errorf("%d executors are killed, over their budget for 4.5 s of the worker's own time", d.kills())
	}
	if d.Advance(d.m.config.ProgressInterval); d.kills() != 1 || x.fault != message.FaultProgram || !strings.Contains(x.failure, "105 %") {
		t.Errorf("%d executors are killed after 5 s; fault %v, %q", d.kills(), x.fault, x.failure)
	}
}

// What a host measures is no word of an executor's loop: one that hangs is killed all the same.
func TestAMeasurementIsNoWord(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.RenewalTimeout, c.Silence = time.Hour, time.Hour })
	x := d.dispatch(0, 1, 1, 1)
	d.ExecSays(x.runs[0].id, &message.ExecStarted{VUs: 1})
	for range 80 {
		d.Advance(500 * time.Millisecond)
		d.uses(x.runs[0], 10)
	}
	if d.kills() != 1 || x.fault != message.FaultExecutor {
		t.Errorf("%d killed, fault %v: it said nothing for 40 s", d.kills(), x.fault)
	}
}

// An executor that is asked to end may not take more either, and what it was asked to end for stays.
func TestAnEndingExecutorKeepsItsBudget(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 1, 1, 1)
	d.Receive(d.to[0], &message.ShardCancel{Shard: x.shard.id, Fence: x.fence, State: message.WorkflowCancelled, Reason: "a client asks"})
	d.uses(x.runs[0], 110)
	d.uses(x.runs[0], 111)
	if d.kills() != 1 || x.failure != "" {
		t.Errorf("%d killed, failure %q", d.kills(), x.failure)
	}
	d.ExecGone(x.runs[0].id, "killed", "")
	if r := d.m.shards[x.shard.id].result.Result; r.State != message.WorkflowCancelled || !strings.Contains(r.Error, "a client asks") || !strings.Contains(r.Error, "110 %") {
		t.Errorf("it ended %v: %s", r.State, r.Error)
	}
}

// An executor far over its budget fails its shard at once, for good: another machine would see the same.
func TestAFarTooLargeExecutorIsTheProgramsFault(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 1, 1, 1)
	if d.uses(x.runs[0], 109); d.kills() != 0 {
		t.Error("109 %: killed at once")
	}
	if d.uses(x.runs[0], 110); d.kills() != 1 || x.fault != message.FaultProgram {
		t.Errorf("110 %%: %d killed, fault %v", d.kills(), x.fault)
	}
}

// A machine that is short of memory loses one executor at a time, the largest, of whichever shard.
func TestAShortMachineLosesItsLargestExecutorFirst(t *testing.T) {
	d := newDesk(t, nil)
	var all []*execution
	for n := range uint32(3) {
		all = append(all, d.dispatch(0, n, 1, 1))
	}
	says := func(i int, percent, left uint64) {
		d.ExecSays(all[i].runs[0].id, &message.ExecUsage{Memory: percent * mega, MemoryMax: 1000 * mega, Left: left * mega, Machine: 1000 * mega})
	}
	says(0, 200, 51)
	says(1, 300, 51)
	says(2, 250, 51)
	if d.kills() != 0 {
		t.Fatal("the machine has 5.1 % left, and an executor is killed")
	}
	for i := range all {
		says(i, []uint64{200, 300, 250}[i], 40)
	}
	if d.kills() != 1 || all[1].fault != message.FaultMemory || !all[1].fault.Cluster() {
		t.Fatalf("%d killed; faults %v %v %v", d.kills(), all[0].fault, all[1].fault, all[2].fault)
	}
	d.ExecGone(all[1].runs[0].id, "killed", "")
	if says(2, 250, 40); d.kills() != 1 {
		t.Error("a measurement from before the end of one kills another")
	}
	d.Advance(relieveAgain)
	if says(2, 250, 40); d.kills() != 2 || all[2].fault != message.FaultMemory {
		t.Errorf("%d killed; the machine is still short", d.kills())
	}
}

// A throttle that ends between two reports is in the result, and an executor that is gone is throttled
// no longer.
func TestEachThrottleIsInTheResult(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 1, 1, 2)
	d.uses(x.runs[0], 85)
	d.uses(x.runs[0], 79)
	d.Advance(time.Second)
	d.uses(x.runs[0], 90)
	d.Advance(time.Second)
	d.ExecSays(x.runs[0].id, &message.ExecResult{State: message.WorkflowCompleted})
	d.ExecGone(x.runs[0].id, "", "")
	d.Advance(time.Second)
	d.ExecSays(x.runs[1].id, &message.ExecResult{State: message.WorkflowCompleted})
	d.ExecGone(x.runs[1].id, "", "")
	want := message.Usage{Memory: 90 * mega, MemoryMax: 100 * mega, Pressed: true, Throttles: 2, Throttled: time.Second}
	if got := d.m.shards[x.shard.id].result.Result.Stats.Generator.Usage; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if x.runs[0].gauge.Level() != budget.Within {
		t.Error("it is gone, and throttled")
	}
}
