package manager

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// datacenter is a gate, three managers and three workers of four cores each.
type datacenter struct {
	*net
	gate     *host
	model    *modelGate
	managers []*host
	workers  []*host
	runs     []*modelRun
	counted  map[string]int // by shard and fence of the subjob that counts it
}

func newDatacenter(t testing.TB, managers int) *datacenter {
	return newDatacenterOf(t, managers, func(*Config) {})
}

func newDatacenterOf(t testing.TB, managers int, change func(*Config)) *datacenter {
	d := &datacenter{net: newNet(t), model: &modelGate{}, counted: map[string]int{}}
	d.gate = d.add("g1", node.RoleGate, func() node.Machine { return d.model })
	var set []node.Addr
	for i := range managers {
		set = append(set, node.Addr(fmt.Sprintf("m%d:1", i+1)))
	}
	c := Default()
	c.Datacenter, c.Gates, c.Managers = "dc1", []node.Addr{"g1:1"}, set
	change(&c)
	for i := range managers {
		d.managers = append(d.managers, d.add(node.ID(fmt.Sprintf("m%d", i+1)), node.RoleManager, func() node.Machine { return New(c) }))
	}
	for i := range 3 {
		d.workers = append(d.workers, d.add(node.ID(fmt.Sprintf("w%d", i+1)), node.RoleWorker, func() node.Machine {
			return &modelWorker{managers: set, length: 3 * time.Second, log: &d.runs}
		}))
	}
	d.watch = func(h *host, e node.Event) {
		if c, ok := e.(event.ShardCounted); ok {
			d.counted[fmt.Sprint(h.peer, c.Shard, c.Subjob)]++
		}
	}
	d.gate.start()
	for _, h := range append(slices.Clone(d.managers), d.workers...) {
		h.start()
	}
	return d
}

// home is the only step of the tests' workflows.
func home() []message.StepPlan { return []message.StepPlan{{Name: "home", Kind: message.StepRequest}} }

// submit gives the gate a job of some workflows, one after the other, each on all given cores.
func (d *datacenter) submit(n byte, layers int, cores uint32) *modelJob {
	p := message.Plan{Source: "f"}
	for i := range layers {
		f := message.WorkflowPlan{Name: fmt.Sprint("w", i), Test: true, VUs: 12, Duration: time.Second, Timeout: time.Second, Cores: cores, Layer: uint32(i), Steps: home()}
		if i > 0 {
			f.Depends = []uint32{uint32(i - 1)}
		}
		p.Workflows = append(p.Workflows, f)
	}
	j := &modelJob{dispatch: &message.JobDispatch{
		Job: message.JobID{n}, Fence: message.Fence{JobEpoch: 257}, Name: "n", Program: message.Program{Main: "f"}, Plan: p, RunTimeout: 10 * time.Minute,
	}}
	d.model.jobs[j.dispatch.Job] = j
	return j
}

// slow makes shards last until a cancellation, or until their renewal ends.
func (d *datacenter) slow(on bool) {
	for _, w := range d.workers {
		if m, ok := w.machine.(*modelWorker); ok {
			m.slow = on
		}
	}
}

func (d *datacenter) holder(job message.JobID) *host {
	for _, h := range d.managers {
		if m, ok := h.machine.(*Machine); ok && m.group != nil {
			if p := m.owned(h, job); p != nil && p.Missing == 0 {
				return h
			}
		}
	}
	return nil
}

func (d *datacenter) running(job message.JobID) int {
	n := 0
	for _, r := range d.runs {
		if r.id.Job == job && r.end == 0 {
			n++
		}
	}
	return n
}

// judge asserts what holds in any run: at most one attempt of a shard sends load at a time, and
// each result counts once.
func (d *datacenter) judge() {
	d.t.Helper()
	for i, a := range d.runs {
		for _, b := range d.runs[:i] {
			if a.id == b.id && (b.end == 0 || a.began < b.end) && (a.end == 0 || b.began < a.end) {
				d.t.Errorf("T13: %v runs on %s under %v from %v to %v and on %s under %v from %v to %v", a.id, a.worker, a.fence, a.began, a.end, b.worker, b.fence, b.began, b.end)
			}
			if a.id == b.id && a.fence == b.fence {
				d.t.Errorf("T6: %v was begun twice under %v", a.id, a.fence)
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(d.counted)) {
		if n := d.counted[what]; n > 1 {
			d.t.Errorf("T8: %s was counted %d times", what, n)
		}
	}
}

// ended waits for a job's end and asserts that its figures add up.
func (d *datacenter) ended(j *modelJob, most time.Duration) *message.SubjobResult {
	d.t.Helper()
	d.until(fmt.Sprintf("the end of job %v, fence %v, refused %d", j.dispatch.Job, j.fence, len(j.refused)), most, func() bool { return len(j.results) > 0 })
	r := j.results[0]
	if r.Subjob.State == message.JobCompleted {
		for _, f := range r.Subjob.Workflows {
			if len(f.Stats.Steps) != 1 || f.Stats.Steps[0].Started != f.VUs {
				d.t.Errorf("workflow %s: %+v of %d virtual users", f.Name, f.Stats.Steps, f.VUs)
			}
		}
	}
	d.judge()
	return r
}

func want(t testing.TB, r *message.SubjobResult, state message.JobState) {
	t.Helper()
	if r.Subjob.State != state {
		t.Fatalf("it ended %v: %s, want %v", r.Subjob.State, r.Subjob.Error, state)
	}
}

func TestJobOnThreeManagers(t *testing.T) {
	for managers := 1; managers <= 3; managers += 2 {
		d := newDatacenter(t, managers)
		d.run(3 * time.Second)
		j := d.submit(1, 2, 6)
		want(t, d.ended(j, 30*time.Second), message.JobCompleted)
		d.run(2 * time.Second)
		if h := d.holder(j.dispatch.Job); h != nil {
			t.Errorf("%v still holds a job that is acknowledged", h)
		}
	}
}

func TestRunningShardsAreAdopted(t *testing.T) {
	d := newDatacenter(t, 3)
	d.run(3 * time.Second)
	d.slow(true)
	j := d.submit(1, 2, 6)
	d.until("it runs", 10*time.Second, func() bool { return d.running(j.dispatch.Job) >= 2 })
	d.run(2 * time.Second)
	before := len(d.runs)
	old := d.holder(j.dispatch.Job)
	old.crash()
	d.until("another manager holds it", 5*time.Second, func() bool { return d.holder(j.dispatch.Job) != nil })
	d.run(7 * time.Second)
	if len(d.runs) != before || d.running(j.dispatch.Job) != before {
		t.Errorf("%d attempts began, %d run; %d ran before", len(d.runs), d.running(j.dispatch.Job), before)
	}
	d.slow(false)
	want(t, d.ended(j, 30*time.Second), message.JobCompleted)
}
