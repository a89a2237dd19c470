package main

import (
	"encoding/json"
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
)

// jobList is what `jobs --json` prints.
type jobList struct {
	Gates []struct {
		Answered bool   `json:"answered"`
		Why      string `json:"why"`
	} `json:"gates"`
	Jobs []struct {
		Job    string `json:"job"`
		Name   string `json:"name"`
		State  string `json:"state"`
		Source string `json:"source"`
	} `json:"jobs"`
	LeftOut int `json:"left_out"`
}

// jobs lists the jobs by one gate's address.
func (g *group) jobs(address string, args ...string) (l jobList) {
	g.t.Helper()
	p := run(g.t, command.ExitGood, append([]string{"jobs", "--json", "--gate", address}, args...)...)
	if err := json.Unmarshal([]byte(p.out.String()), &l); err != nil {
		g.t.Fatalf("%v: %s", err, p.out.String())
	}
	return l
}

// states are the jobs' states by their names.
func (l jobList) states() map[string]string {
	all := map[string]string{}
	for _, j := range l.Jobs {
		all[j.Name] = j.State
	}
	return all
}

// TestJobsOfAllGates: each gate owns a job that waits. A client that knows one gate lists them all,
// also after the kill of an owner, cancels those that it means, and then all.
func TestJobsOfAllGates(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	g.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2")
	for _, address := range g.gates {
		eventually(t, "a gate knows the datacenter", patience, func() bool {
			return strings.Contains(run(t, command.ExitGood, "datacenters", "--gate", address).out.String(), "here")
		})
	}
	eventually(t, "all gates have joined, and list no job", patience, func() bool {
		p := start(t, "jobs", "--gate", g.gates["gate-1"])
		return p.code() == command.ExitGood && p.out.String() == "as 3 of 3 gates see it\nno jobs\n"
	})
	ids := map[string]string{}
	for _, gate := range []string{"gate-1", "gate-2", "gate-3"} { // without a worker they wait
		p := run(t, command.ExitGood, "submit", write(t, gate+".star", loadFile), "--gate", g.gates[gate], "--set", "target=http://127.0.0.1:1")
		ids[strings.TrimSpace(p.out.String())] = gate
	}
	l := g.jobs(g.gates["gate-3"])
	for _, j := range l.Jobs {
		if ids[j.Job]+".star" != j.Name || j.State != "QUEUED" || j.Source != "owner" {
			t.Errorf("job %+v of %s", j, ids[j.Job])
		}
	}
	if len(l.Jobs) != 3 || l.Jobs[0].Name != "gate-3.star" || l.Jobs[2].Name != "gate-1.star" {
		t.Errorf("three jobs wait, the newest at gate-3: %+v", l.Jobs)
	}
	if l = g.jobs(g.gates["gate-3"], "--limit", "1"); len(l.Jobs) != 1 || l.LeftOut != 2 {
		t.Errorf("one of three jobs: %+v", l)
	}

	g.nodes["gate-2"].kill()
	p := run(t, command.ExitGood, "jobs", "--gate", g.gates["gate-1"])
	if text := p.out.String(); !matches(`(?s)as 2 of 3 gates see it\n\S+ did not answer: .*gate-2.star.*QUEUED\*`, text) || !strings.Contains(text, "* as its record says") {
		t.Errorf("without the owner of a job:\n%s", text)
	}
	run(t, command.ExitUsage, "cancel", "--all", "--name", "gate-1", "--gate", g.gates["gate-1"]).says("1 job would be cancelled: add --yes")
	p = run(t, command.ExitGood, "cancel", "--all", "--name", "gate-1", "--reason", "a test", "--yes", "--gate", g.gates["gate-1"])
	if text := p.out.String(); !matches(`(?m)^[0-9a-z]{26} gate-1\.star CANCELLED\n1 job cancelled$`, text) {
		t.Errorf("one is cancelled:\n%s", text)
	}
	if got := g.jobs(g.gates["gate-3"]).states(); got["gate-1.star"] != "CANCELLED" || got["gate-2.star"] != "QUEUED" || got["gate-3.star"] != "QUEUED" {
		t.Errorf("after one cancellation: %v", got)
	}
	p = run(t, command.ExitGood, "cancel", "--all", "--state", "QUEUED", "--yes", "--gate", g.gates["gate-1"])
	if text := p.out.String(); !strings.HasSuffix(text, "\n2 jobs cancelled\n") {
		t.Errorf("all are cancelled:\n%s", text)
	}
	if l = g.jobs(g.gates["gate-1"], "--state", "queued,running"); len(l.Jobs) != 0 {
		t.Errorf("what has not ended: %+v", l.Jobs)
	}
	p = run(t, command.ExitGood, "cancel", "--all", "--gate", g.gates["gate-1"])
	if text := p.out.String(); !strings.HasSuffix(text, "no jobs\n") {
		t.Errorf("nothing is left to cancel:\n%s", text)
	}

	g.nodes["gate-3"].kill()
	p = run(t, command.ExitGood, "jobs", "--gate", g.gates["gate-1"])
	if !strings.Contains(p.out.String(), "fewer than a majority of the gates answered: jobs may be missing") {
		t.Errorf("one of three gates:\n%s", p.out.String())
	}
}
