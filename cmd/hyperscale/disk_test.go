package main

import (
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
	t   *testing.T
	dir string
}

// newDisk mounts one where the node will have its data; it needs root.
func newDisk(t *testing.T, dir string) *disk {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a full disk needs a file system of its own, and mounting one says: %v; run this test as root, outside of a sandbox", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return &disk{t, dir}
}

// fill leaves no room.
func (d *disk) fill() {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "fill"), make([]byte, 2<<20), 0o644); !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatalf("the disk is not full: %v", err)
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
		disks[id] = newDisk(t, filepath.Join(dir, id))
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
