package manager

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// forgetFiles drops the files of a subjob at all managers but one.
func (d *datacenter) forgetFiles(j *modelJob, but *host) {
	for _, h := range d.managers {
		if h == but {
			continue
		}
		m := h.machine.(*Machine)
		seen, _ := m.group.Leases.Seen(d.now, j.dispatch.Job)
		files, _ := subjob.FilesOf(seen.Record)
		for _, f := range files {
			m.group.Files.Drop(h, f)
		}
	}
}

// incomplete returns the subjob at the manager that waits for its files.
func (d *datacenter) incomplete(j *modelJob) *subjob.Subjob {
	for _, h := range d.managers {
		if m, ok := h.machine.(*Machine); ok && m.subjobs[j.dispatch.Job] != nil && m.subjobs[j.dispatch.Job].Missing > 0 {
			return m.subjobs[j.dispatch.Job]
		}
	}
	return nil
}

// A worker restarts while the manager still fetches the files of its subjob. Its shard was lost too
// often, so the first workflow fails, and the second one never starts. The manager acts on that
// when it has the plan, and emits the subjob's course from the start.
func TestLossesWaitForTheFiles(t *testing.T) {
	d := newDatacenterOf(t, 3, func(c *Config) { c.DispatchMax = 1 })
	d.run(3 * time.Second)
	d.slow(true)
	j := d.submit(1, 2, 4)
	d.until("it runs", 10*time.Second, func() bool { return d.running(j.dispatch.Job) > 0 })
	d.run(1500 * time.Millisecond)
	old := d.holder(j.dispatch.Job)
	old.crash()
	d.forgetFiles(j, old)
	announced := map[uint64]bool{}
	d.watch = func(_ *host, e node.Event) {
		switch e := e.(type) {
		case event.SubjobChanged:
			announced[e.Fence.SubjobEpoch] = true
		case event.WorkflowChanged:
			if !announced[e.Fence.SubjobEpoch] {
				t.Errorf("workflow %d becomes %v, and its subjob was not announced", e.Workflow, e.To)
			}
		}
	}
	adopted := func() bool {
		p := d.incomplete(j)
		return p != nil && len(p.Workflows) > 0 && !slices.ContainsFunc(p.Workflows[0].Shards, func(s *subjob.Shard) bool { return !s.Live() })
	}
	d.until("the shards are adopted", 5*time.Second, adopted)
	for _, w := range d.workers {
		if w.peer.ID == d.runs[0].worker {
			w.crash()
			w.start()
		}
	}
	d.until("the loss is recorded", time.Second, func() bool {
		p := d.incomplete(j)
		return p != nil && p.Shard(d.runs[0].id) != nil && len(p.Shard(d.runs[0].id).Lost) > 0
	})
	d.run(100 * time.Millisecond)
	old.start()
	r := d.ended(j, 40*time.Second)
	want(t, r, message.JobFailed)
	if got := r.Subjob.Workflows[0].Error; !strings.Contains(got, "was lost 1 times") {
		t.Errorf("the first workflow says %q", got)
	}
}

// A worker's heartbeat arrives while the manager still fetches the files of a subjob that it
// takes over. The listed shards continue, and the subjob ends.
func TestAdoptedBeforeTheFilesAreHere(t *testing.T) {
	d, j, old := startedLayers(t, 1)
	// No other manager has the dispatch without fetching it.
	old.crash()
	d.forgetFiles(j, old)
	d.run(4 * time.Second)
	taken := 0
	for _, h := range d.managers {
		if m, ok := h.machine.(*Machine); ok && m.subjobs[j.dispatch.Job] != nil && m.subjobs[j.dispatch.Job].Missing > 0 {
			taken++
			for _, f := range m.subjobs[j.dispatch.Job].Workflows {
				for _, s := range f.Shards {
					if s.Open && s.State != message.WorkflowRunning {
						t.Errorf("%v waits, its worker has listed it", s.ID)
					}
				}
			}
		}
	}
	if taken != 1 {
		t.Fatalf("%d managers wait for its files", taken)
	}
	old.start()
	d.slow(false)
	want(t, d.ended(j, 40*time.Second), message.JobCompleted)
	if len(d.runs) < 2 || d.runs[0].end == 0 || d.runs[0].end.Sub(d.runs[0].began) < 5*time.Second {
		t.Errorf("%+v", d.runs[0])
	}
}
