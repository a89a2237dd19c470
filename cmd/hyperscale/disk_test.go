package main

import (
	"bytes"
	"errors"
	"fmt"
	"hyperscale/cmd/hyperscale/internal/command"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// disk is a small one of a node's own.
type disk struct {
	t    *testing.T
	dir  string
	size int
}

// newDisk mounts one of so many bytes where the node will have its data; it needs root.
func newDisk(t *testing.T, dir string, size int) *disk {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("a full disk needs a file system of its own, and mounting one says: %v; run this test as root, outside of a sandbox", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return &disk{t, dir, size}
}

// fill leaves no room.
func (d *disk) fill() {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "fill"), make([]byte, d.size+1<<20), 0o644); !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatalf("the disk is not full: %v", err)
	}
}

// leave leaves a part of the disk in percent.
func (d *disk) leave(percent int) {
	d.t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		d.t.Fatal(err)
	}
	fill := max(0, int(s.Bavail)*int(s.Bsize)-d.size*percent/100)
	if err := os.WriteFile(filepath.Join(d.dir, "fill"), make([]byte, fill), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *disk) free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.dir, "fill")); err != nil {
		d.t.Fatal(err)
	}
}

// TestFullDisk: a node with a full disk takes no new work and says so, continues to serve, and
// takes work again once there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disks := map[string]*disk{}
	for _, id := range []string{"gate-1", "manager-1", "worker-1"} {
		disks[id] = newDisk(t, filepath.Join(dir, id), 1<<20)
	}
	url := serveTarget(t, "--latency", "5ms")
	c := startClusterIn(t, dir, 1)
	job := []string{"submit", write(t, "load.star", loadFile), "--gate", c.gateAddr, "--set", "target=" + url, "--duration", "100ms"}
	wait := append(job, "--wait", "--ui", "none")

	disks["gate-1"].fill()
	eventually(t, "the gate refuses", patience, func() bool {
		p := start(t, job...)
		if p.code() == command.ExitGood {
			return false
		}
		p.says(`the disk refuses writes`, `free space under --data`)
		return true
	})
	run(t, command.ExitFailed, job...).says(`\(retry after .*s\)`, "free space under --data")
	run(t, command.ExitGood, "datacenters", "--gate", c.gateAddr)
	disks["gate-1"].free()
	eventually(t, "the gate takes jobs again", patience, func() bool { return start(t, wait...).code() == command.ExitGood })

	// Of a job, a manager keeps its program and a worker a fence a shard.
	head := loadFile[:strings.Index(loadFile, "workflow(")]
	var flows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&flows, "workflow(name = \"w%d\", vus = 1, duration = \"1ms\", steps = [step(\"home\", http.get(target + \"/\"))])\n", i)
	}
	for _, one := range []struct {
		id, text string
		p        *process
	}{
		{"manager-1", strings.Repeat("#", 200<<10) + loadFile, c.manager},
		{"worker-1", head + flows.String(), c.workers[0]},
	} {
		disks[one.id].fill()
		file := write(t, "job.star", one.text)
		waiting := start(t, "submit", file, "--gate", c.gateAddr, "--set", "target="+url, "--wait", "--ui", "none")
		one.p.await(`store-failed.*no space left`)
		disks[one.id].free()
		waiting.expect(command.ExitGood)
	}
	judge(t, c.dir)
}

// TestDamagedDisk: a node refuses a data directory whose bytes are not as written, and says what
// is damaged and the one safe way on. With an empty directory it starts again.
func TestDamagedDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gate-1")
	node := []string{"gate", "--id", "gate-1", "--listen", "127.0.0.1:0", "--data", dir}
	for range 2 {
		gate := start(t, node...)
		gate.await(`msg="node starts"`)
		run(t, command.ExitUsage, "verify", dir).says("a node uses it: stop the node first")
		gate.signal(syscall.SIGTERM)
		gate.expect(command.ExitGood)
	}
	if out := run(t, command.ExitGood, "verify", dir).out.String(); !matches(`good\n  node gate-1, started 2 times, .* on disk\nKIND +RECORDS`, out) {
		t.Errorf("verify prints %s", out)
	}
	file := filepath.Join(dir, "store.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	for i := range 40 {
		flipped[i*len(whole)/40] ^= 0xff
	}
	for what, b := range map[string][]byte{"40 flipped bytes": flipped, "cut to a half": whole[:len(whole)/2], "no meta pages": append(make([]byte, 8192), whole[8192:]...)} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		v := run(t, command.ExitFailed, "verify", dir)
		if v.says("move the directory away and start with an empty one"); !matches(`DAMAGED\n(.*\n)*  (page|record|the)`, v.out.String()) {
			t.Errorf("%s: verify prints %s", what, v.out.String())
		}
		p := run(t, command.ExitUsage, node...)
		p.says("store.db is damaged: (page|record|the)", "move the directory away and start with an empty one", "Never put a copy in its place")
		if text := p.err.String(); strings.Contains(text, "goroutine") || strings.Contains(text, "a bug of ours") {
			t.Errorf("%s: %s", what, tail(text, 2000))
		}
	}
	if err := os.Rename(dir, dir+".damaged"); err != nil {
		t.Fatal(err)
	}
	gate := start(t, node...)
	gate.await(`msg="node starts"`)
	run(t, command.ExitUsage, "verify", t.TempDir()).says("holds no data of a node")

	// Its disk goes away while it runs: it ends, and acknowledges nothing more.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	gate.expect(command.ExitFailed)
	gate.says("was deleted or replaced while the node ran")
}
