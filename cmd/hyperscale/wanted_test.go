package main

import (
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
)

// TestWantedCores: a gate's metrics say how many cores its jobs want, so that something else can start workers: those that
// run, and those that wait, more than there are included. A worker that comes lets them run; their ends take them away.
func TestWantedCores(t *testing.T) {
	t.Parallel()
	const file = `
target = param("target", help = "server under test")
many = int(param("cores", default = "1", help = "of the workflow"))
workflow(name = "load", vus = 4, cores = many, duration = "30s", steps = [step("home", http.get(target + "/"))])
`
	url := serveTarget(t, "--latency", "5ms")
	load := write(t, "cores.star", file)
	c := startCluster(t, 1)
	wants := func(what string, n float64) {
		t.Helper()
		eventually(t, what, patience, func() bool { return metric(t, c.admins["gate-1"], "hyperscale_gate_wanted_cores") == n })
	}
	wants("a datacenter that nothing wants has a figure", 0)
	first := c.submit(load, "--set", "target="+url)
	c.running(first)
	wants("the running job", 1)
	second := c.submit(load, "--set", "target="+url, "--set", "cores=3")
	wants("and the one that wants more cores than there are", 4)
	run(t, command.ExitGood, "cancel", first, "--gate", c.gateAddr)
	wants("without the one that has ended", 3)
	c.workers = append(c.workers, nil, nil)
	c.startWorker(2)
	c.startWorker(3)
	c.running(second)
	wants("it has the cores that it wants", 3)
	run(t, command.ExitGood, "cancel", second, "--gate", c.gateAddr)
	wants("nothing is left", 0)
}
