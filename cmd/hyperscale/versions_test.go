package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
)

// formerCommit is the last one of protocol version 1.0.
const formerCommit = "4440155f"

// former builds the last commit of the former version, from the history of this repository.
// HYPERSCALE_FORMER names a binary that is built already.
func former(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("HYPERSCALE_FORMER"); path != "" {
		return path
	}
	if err := exec.Command("git", "-C", "../..", "cat-file", "-e", formerCommit).Run(); err != nil {
		t.Skip("SKIPPED: this copy of the repository has no history: clone it whole")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "hyperscale")
	for _, line := range []string{
		"git -C ../.. archive " + formerCommit + " | tar -x -C " + dir,
		"cd " + dir + " && CGO_ENABLED=0 go build -buildvcs=false -o " + path + " ./cmd/hyperscale",
	} {
		if out, err := exec.Command("bash", "-euo", "pipefail", "-c", line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	return path
}

// startFormer starts nodes of the former version.
func (g *group) startFormer(path string, ids ...string) {
	g.t.Helper()
	for _, id := range ids {
		role, _, _ := strings.Cut(id, "-")
		args := slices.Concat([]string{role}, g.settings(id), []string{"--admin", "127.0.0.1:0", "--history", g.path(id + ".jsonl")})
		g.nodes[id] = startAs(g.t, func(c *exec.Cmd) { c.Path, c.Err = path, nil }, args...)
	}
	for _, id := range ids {
		g.admins[id] = g.nodes[id].await(`msg=up .*admin=(\S+)`)
	}
}

// TestTwoVersions: a cluster of the former version becomes one of this version, one node at a time, while
// jobs run and owners die: they go to new nodes and back to old ones. The level rises when an operator
// orders it and all are new. From then on the former version rejects its disk.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	path := former(t)
	url, file := serveTarget(t, "--latency", "5ms"), write(t, "load.star", loadFile)
	g := newGroup(t)
	g.startFormer(path, "gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	g.up()
	run(t, command.ExitFailed, "upgrade", "status", "--gate", list(g.gates)).says("protocol version 1.0 does not know UpgradeQuery", "upgrade gate-")

	wait, job, _ := g.submit(file, url, 20*time.Second, "client-1")
	first := g.owner(job, "")
	g.nodes[first].kill()
	g.start(first) // of this version: it takes the job over again, or an old gate does
	second := map[string]string{"gate-1": "gate-2", "gate-2": "gate-3", "gate-3": "gate-1"}[first]
	g.nodes[second].signal(syscall.SIGTERM)
	g.nodes[second].code()
	g.start(second)
	owner := g.owner(job, "")
	g.nodes[owner].kill()
	other := g.owner(job, owner)
	g.startFormer(path, owner) // it goes back
	g.nodes[other].kill()
	g.owner(job, other)
	g.start(other)
	for _, id := range []string{"manager-1", "manager-2"} {
		g.nodes[id].signal(syscall.SIGTERM)
		g.nodes[id].code()
		g.start(id)
	}
	wait.expect(command.ExitGood)
	run(t, command.ExitFailed, "upgrade", "--finalize", "--gate", list(g.gates)).says("nothing is finalized: .*version 1.0: start version 1.1 there")

	for _, id := range []string{"gate-1", "gate-2", "gate-3", "manager-3", "worker-1", "worker-2"} {
		g.nodes[id].signal(syscall.SIGTERM)
		g.nodes[id].code()
		g.start(id)
	}
	g.up()
	wait, job, _ = g.submit(file, url, 9*time.Second, "client-2")
	g.owner(job, "")
	if p := run(t, command.ExitGood, "upgrade", "--finalize", "--gate", list(g.gates)); !strings.Contains(p.out.String(), "finalized: no node of an older version takes part") {
		t.Errorf("finalized, and it says %q", p.out.String())
	}
	g.nodes["gate-2"].kill()
	g.startFormer(path, "gate-2")
	g.nodes["gate-2"].await(`needs hyperscale of protocol version 1.1 or newer`)
	wait.expect(command.ExitGood)
	g.nodes["gate-2"].kill()
	g.start("gate-2")
	g.up()
	judge(t, g.dir)
}
