package report

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/core/message"
)

// TestUnknownFiguresAreAbsent: of a datacenter that best effort left out, or that reported nothing,
// the file has an outcome and no figure. What ran and sent nothing has zeroes.
func TestUnknownFiguresAreAbsent(t *testing.T) {
	load := []message.WorkflowResult{{Name: "load", State: message.WorkflowCompleted}}
	r, err := Build(&message.Result{
		Job: message.JobID{1}, Name: "x", State: message.JobCompleted, Missing: []string{"late"}, Workflows: load,
		Datacenters: []message.DatacenterResult{
			{Name: "idle", State: message.JobCompleted, Workflows: load},
			{Name: "late", State: message.JobCancelled, Error: "left out by best effort", Duration: time.Second, Workflows: load},
			{Name: "lost", State: message.JobFailed, Error: "its managers are silent"},
		},
	}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Datacenters map[string]map[string]any }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	for name, fields := range file.Datacenters {
		for _, figure := range []string{"totals", "requested", "workflows", "workers"} {
			if _, is := fields[figure]; is != (name == "idle") {
				t.Errorf("%s: %s is in the file: %v", name, figure, is)
			}
		}
		if fields["outcome"] == nil {
			t.Errorf("%s has no outcome", name)
		}
	}
	again, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("read again: %s", diff)
	}
	if len(again.In("idle")) != 1 || again.In("late") != nil || again.In("lost") != nil || again.In("nowhere") != nil {
		t.Errorf("the figures of %+v", again.Datacenters)
	}
	again.Late("late") // has no figures to look at
}

// TestZeroesOfEarlierVersions: earlier versions wrote zeroes for datacenters without a report. They are
// dropped, not read as figures.
func TestZeroesOfEarlierVersions(t *testing.T) {
	old := []byte(`{"schema": "hyperscale.result/v1", "missing": ["west"], "totals": {"started": 3}, "datacenters": {
		"east": {"outcome": "COMPLETED", "totals": {"started": 3}, "workflows": [{"name": "load"}], "workers": []},
		"west": {"outcome": "CANCELLED", "totals": {"started": 0}, "workflows": [], "workers": []},
		"north": {"outcome": "FAILED", "totals": {"started": 0}, "workflows": [], "workers": []}}}`)
	r, err := Decode(old)
	if err != nil {
		t.Fatal(err)
	}
	if east := r.Datacenters["east"].Figures; east == nil || east.Requested.Started != 3 {
		t.Errorf("east has %+v", east)
	}
	if r.Datacenters["west"].Figures != nil || r.Datacenters["north"].Figures != nil {
		t.Errorf("zeroes count as figures: %+v", r.Datacenters)
	}
	if b, err := r.Encode(); err != nil || bytes.Count(b, []byte(`"workers"`)) != 1 {
		t.Errorf("%v in\n%s", err, b)
	}
}
