package config

import "hyperscale/core/node"

// Size is a cluster that docs/settings.md recommends values for.
type Size struct {
	Name string
	For  string // what it carries
}

// Sizes are those of Advice, in its order: of load first, then of the network between gates.
func Sizes() []Size {
	return []Size{
		{"small", "20 workers, 1,000 jobs a day"},
		{"usual", "500 workers, 100,000 jobs a day"},
		{"large", "10,000 workers in a datacenter, a million jobs a day"},
		{"one LAN", "gates within 5 ms of each other, on SSDs: another gate takes over within 9 s"},
		{"WAN", "gates 50 ms or more apart, or on slow disks"},
	}
}

// Advice recommends the value of one key: a key of a node, or one of --set. Empty: the default.
type Advice struct {
	Role   node.Role
	Key    string
	Values [5]string // by Sizes
	Why    string
}

// Advised are all recommendations. Keys that it leaves out have defaults that fit each size.
func Advised() []Advice {
	gate, manager, worker := node.RoleGate, node.RoleManager, node.RoleWorker
	return []Advice{
		{gate, "gate.jobs_max", [5]string{"3000", "", "30000", "", ""}, "3 KiB of memory a job, ended ones included"},
		{gate, "gate.queue_max", [5]string{"300", "", "5000", "", ""}, "a burst that waits; below gate.jobs_max"},
		{gate, "gate.keys_max", [5]string{"100000", "", "3000000", "", ""}, "86 bytes a job of the last gate.key_age, with room for a burst"},
		{gate, "gate.spec_bytes_max", [5]string{"32MiB", "", "512MiB", "", ""}, "programs of jobs that wait or run"},
		{gate, "gate.results_max", [5]string{"500", "", "5000", "", ""}, "clients fetch a result soon after the end; 5 KiB and more each"},
		{gate, "gate.result_bytes_max", [5]string{"32MiB", "", "256MiB", "", ""}, "results of jobs on thousands of workers are larger"},
		{gate, "gate.letter_bytes_max", [5]string{"16MiB", "", "", "", ""}, "one is a fault that an operator looks at"},
		{gate, "gate.file_bytes_max", [5]string{"96MiB", "", "1GiB", "", ""}, "programs and results, in memory and on disk"},
		{gate, "lease", [5]string{"", "", "", "6s", "30s"}, "how soon another gate takes over; equal on gates and managers"},
		{gate, "quorum_timeout", [5]string{"", "", "", "1s", "5s"}, "10 x (slowest fsync + round trip)"},
		{manager, "lease", [5]string{"", "", "", "6s", "30s"}, "equal on gates and managers"},
		{manager, "manager.finished_max", [5]string{"", "", "2000", "", ""}, "ended shares of some minutes"},
		{manager, "manager.subjobs_max", [5]string{"", "", "2000", "", ""}, "a manager that is full takes no further job"},
		{worker, "exec.memory_max", [5]string{"1GiB", "", "", "", ""}, "(memory of the machine - 1 GiB) / executors"},
	}
}
