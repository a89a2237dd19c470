package manager

import (
	"testing"
	"time"

	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
)

// A worker's heartbeat arrives while the manager still fetches the files of a subjob that it
// takes over. The listed shards continue, and the subjob ends.
func TestAdoptedBeforeTheFilesAreHere(t *testing.T) {
	d, j, old := startedLayers(t, 1)
	// No other manager has the dispatch without fetching it.
	old.crash()
	for _, h := range d.managers {
		if h == old {
			continue
		}
		m := h.machine.(*Machine)
		seen, _ := m.group.Leases.Seen(d.now, j.dispatch.Job)
		files, _ := subjob.FilesOf(seen.Record)
		for _, f := range files {
			m.group.Files.Drop(h, f)
		}
	}
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
