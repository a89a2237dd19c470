package exec

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAContainerIsAMachine: the control groups above a process bound what its machine has, and files that
// the kernel keeps count as left.
func TestAContainerIsAMachine(t *testing.T) {
	root := t.TempDir()
	files := func(group string, files map[string]string) {
		folder := filepath.Join(root, group)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	files("pod", map[string]string{"memory.max": "1000\n", "memory.current": "900\n", "memory.stat": "anon 500\ninactive_file 300\n"})
	files("pod/box", map[string]string{"memory.max": "max\n", "memory.current": "100\n"})
	files("full", map[string]string{"memory.max": "1000\n", "memory.current": "1200\n"})
	for _, c := range []struct {
		what, text    string
		left, machine uint64
	}{
		{"in no group of version 2", "4:memory:/pod\n", 5000, 9000},
		{"in a group without a bound", "0::/other\n", 5000, 9000},
		{"in a group with a bound", "1:cpu:/\n0::/pod\n", 400, 1000},
		{"below one", "0::/pod/box\n", 400, 1000},
		{"in a full one", "0::/full\n", 0, 1000},
		{"outside of the root", "0::/../..\n", 5000, 9000},
	} {
		if left, machine := withinGroups(5000, 9000, root, groupOf(c.text)); left != c.left || machine != c.machine {
			t.Errorf("%s: %d of %d left, want %d of %d", c.what, left, machine, c.left, c.machine)
		}
	}
	if left, machine := withinGroups(0, 0, root, "/pod/box"); left != 400 || machine != 1000 {
		t.Errorf("of an unknown machine %d of %d are left", left, machine)
	}
	if left, machine := machineMemory(); left == 0 || left > machine {
		t.Errorf("this machine has %d of %d left", left, machine)
	}
}
