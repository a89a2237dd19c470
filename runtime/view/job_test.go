package view

import (
	"testing"

	"hyperscale/core/message"
)

// TestJobViewCountsRequests: a function's requests count, its calls do not count beside them, and
// setup is no load.
func TestJobViewCountsRequests(t *testing.T) {
	w := message.WorkflowResult{Name: "w", Stats: message.Stats{Steps: []message.StepStats{
		{Name: "buy", Kind: message.StepFunction, Started: 5, OK: 5},
		{Name: "buy/a", Kind: message.StepPart, Started: 5, OK: 5},
		{Name: "buy/b", Kind: message.StepPart, Started: 5, OK: 2, Failed: 2, TimedOut: 1},
		{Name: "home", Kind: message.StepRequest, Started: 1, OK: 1},
		{Name: "setup/x", Kind: message.StepBeside, Started: 9, OK: 9},
	}}}
	v := JobOf(&message.JobStatus{Datacenters: []message.DatacenterResult{{Name: "a", Workflows: []message.WorkflowResult{w}}}})
	if got := v.Datacenters[0].Workflows[0]; got.Started != 11 || got.OK != 8 || got.Failed != 3 {
		t.Errorf("started %d, ok %d, failed %d: want 11, 8, 3", got.Started, got.OK, got.Failed)
	}
}

// TestJobViewNamesTheHolder: as the gate that answers knows it, and no holder of a released register, nor one that the gate
// has not heard.
func TestJobViewNamesTheHolder(t *testing.T) {
	job := message.JobID{7}
	lease := message.LeaseInfo{Job: job, Holder: "g:1", Token: message.LeaseToken{Epoch: 4, Ordinal: 2}, Left: 5}
	other, released, unheard := lease, lease, lease
	other.Job, released.Released, unheard.Unheard = message.JobID{8}, true, true
	for _, c := range []struct {
		leases []message.LeaseInfo
		want   string
	}{{[]message.LeaseInfo{other, lease}, "g:1 4/2"}, {[]message.LeaseInfo{other}, " "}, {[]message.LeaseInfo{released}, " "}, {[]message.LeaseInfo{unheard}, " 4/2"}} {
		v := JobOf(&message.JobStatus{Job: job})
		v.Hold(&message.ClusterStatus{Leases: c.leases})
		if got := v.Holder + " " + v.Fence; got != c.want || (v.LeftNS == 5) != (c.want != " ") {
			t.Errorf("%v: got %q, want %q", c.leases, got, c.want)
		}
	}
}
