package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
)

// listedJobs returns the jobs that `jobs --json` lists, by id with their states.
func (g *group) listedJobs() map[string]string {
	g.t.Helper()
	var list struct {
		Jobs []struct{ Job, State string }
	}
	p := start(g.t, "jobs", "--json", "--gate", g.seeds())
	if p.code() != command.ExitGood || json.Unmarshal([]byte(p.out.String()), &list) != nil {
		return nil
	}
	all := map[string]string{}
	for _, j := range list.Jobs {
		all[j.Job] = j.State
	}
	return all
}

// seeds are the addresses of all gates.
func (g *group) seeds() string { return list(g.gates) }

// TestBackupAndRestore: three gates are backed up under load, lose all disks, and begin again from
// the backup while their manager and worker run on. They know the jobs of the backup, end
// what had not ended as unknown, stop its load, and take jobs again.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	g.managers = map[string]string{"manager-1": g.managers["manager-1"]}
	all := []string{"gate-1", "gate-2", "gate-3"}
	g.start(all...)
	g.start("manager-1", "worker-1")
	url, file := serveTarget(t, "--latency", "5ms"), write(t, "load.star", loadFile)
	job := []string{"submit", file, "--gate", list(g.gates), "--set", "target=" + url, "--ui", "none"}
	eventually(t, "a job ends", patience, func() bool {
		return start(t, append(job, "--duration", "100ms", "--wait")...).code() == command.ExitGood
	})
	_, running, _ := g.submit(file, url, 10*time.Minute, "long")
	eventually(t, "it runs", patience, func() bool { return g.listedJobs()[running] == "RUNNING" })
	before := g.listedJobs()
	load := make(chan []string, 1)
	stop := make(chan struct{})
	go func() { // jobs keep coming while the backup is made
		var late []string
		for {
			select {
			case <-stop:
				load <- late
				return
			default:
				if p := start(t, append(job, "--duration", "1s")...); p.code() == command.ExitGood {
					late = append(late, strings.TrimSpace(p.out.String()))
				}
			}
		}
	}()
	out := g.path("gates.backup")
	making := []string{"backup", "--gate", list(g.gates), "--out", out}
	p := run(t, command.ExitGood, making...)
	close(stop)
	late := <-load
	if !matches("gates.backup  whole\n", p.out.String()) {
		t.Errorf("backup prints %s", p.out.String())
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v", info, err)
	}
	run(t, command.ExitUsage, making...).says("overwrites nothing")
	run(t, command.ExitGood, "verify", out)

	for _, id := range all {
		g.nodes[id].kill()
		if err := os.RemoveAll(g.path(id)); err != nil {
			t.Fatal(err)
		}
	}
	restoring := slices.Concat([]string{"restore"}, g.settings("gate-1"))
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	flipped := filepath.Join(t.TempDir(), "flipped.backup")
	if err := os.WriteFile(flipped, b, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, command.ExitFailed, append(restoring, flipped)...).says("nothing was restored")
	run(t, command.ExitUsage, append(restoring, out, "--cluster", "other")...).says(`of cluster "default", and this gate is of "other"`)
	if got := run(t, command.ExitGood, append(restoring, out)...).out.String(); !matches("unknown: job "+running, got) || !matches("next: start gate-1 as usual", got) {
		t.Errorf("restore prints %s", got)
	}
	run(t, command.ExitUsage, append(restoring, out)...).says("is not empty")
	g.start(all...)
	eventually(t, "what had not ended is unknown", patience, func() bool { return g.listedJobs()[running] == "FAILED" })
	after := g.listedJobs()
	for id, state := range before {
		if id == running {
			state = "FAILED"
		}
		if after[id] != state {
			t.Errorf("job %s was %s, and is %q", id, before[id], after[id])
		}
	}
	for id := range after {
		if _, known := before[id]; !known && !slices.Contains(late, id) {
			t.Errorf("job %s was never submitted", id)
		}
	}
	if got := run(t, command.ExitGood, "jobs", "--dead", "--gate", list(g.gates)).out.String(); !matches(running+`.*its end is not known`, got) {
		t.Errorf("the dead letters are %s", got)
	}
	eventually(t, "the worker takes a job again", patience, func() bool { // the old load has stopped: its only core is free
		return start(t, append(job, "--duration", "100ms", "--wait")...).code() == command.ExitGood
	})
}
