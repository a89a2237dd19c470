package local

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"hyperscale/runtime/exec"
)

// CPUs returns one processor of each physical core that this process may use, in
// order: two executors on the threads of one core would share it and measure each
// other.
func CPUs() []int {
	return physical(exec.Usable(), func(cpu int) string {
		b, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		if err != nil {
			return "" // the topology is unknown: each processor counts as a core
		}
		return strings.TrimSpace(string(b))
	})
}

// physical keeps the first of those whose siblings are the same.
func physical(usable []int, siblings func(cpu int) string) []int {
	seen := map[string]bool{}
	var cpus []int
	for _, cpu := range usable {
		key := siblings(cpu)
		if key != "" && seen[key] {
			continue
		}
		seen[key] = true
		cpus = append(cpus, cpu)
	}
	return cpus
}

// Cores is how many executors run by default: all physical cores but one, as far
// as the container's quota allows (GOMAXPROCS knows it), and at least one.
func Cores() int {
	return max(1, min(len(CPUs()), runtime.GOMAXPROCS(0))-1)
}
