package main

import (
	"hyperscale/cmd/hyperscale/internal/command"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBadTarget: the command reports a target that cannot answer by kind, with an example and
// what to change.
func TestBadTarget(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", strings.Replace(loadFile, `"300ms"`, `"2s"`, 1))
	secure, plain := serveTarget(t, "--tls"), serveTarget(t)
	for _, test := range []struct {
		name, url string
		code      int
		says      []string
	}{
		{"nobody listens", "http://127.0.0.1:1", command.ExitFailed, []string{"refused", "check that it runs and that the URL is right"}},
		{"no such name", "http://no-such-host.invalid", command.ExitFailed, []string{"no-such-host.invalid", "check the name"}},
		{"a certificate of its own", secure, command.ExitFailed, []string{"tls_authority", "use a certificate that this machine trusts, or turn verification off"}},
		{"plain HTTP to TLS", strings.Replace(secure, "https", "http", 1), command.ExitFailed, []string{"closed", "does the server speak https:// on this port"}},
		{"TLS to plain HTTP", strings.Replace(plain, "http", "https", 1), command.ExitFailed, []string{"TLS handshake", "does the server speak plain http:// on this port"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := run(t, test.code, "run", file, "--set", "target="+test.url, "--duration", "200ms", "--cores", "1", "--ui", "none")
			text := strings.Join(strings.Fields(p.out.String()), " ") // the summary is wrapped
			for _, want := range test.says {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, p.out.String())
				}
			}
		})
	}
}

// TestTakenPort: the program that holds a port is not disturbed, and the error of the other names the port.
func TestTakenPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nothing was accepted
	taken, dir := l.Addr().String(), t.TempDir()
	for _, args := range [][]string{
		{"target", "--listen", taken},
		{"gate", "--id", "a", "--data", dir, "--listen", taken},
		{"gate", "--id", "a", "--data", dir, "--listen", "127.0.0.1:0", "--admin", taken},
		{"manager", "--id", "a", "--data", dir, "--listen", taken, "--datacenter", "here", "--gates", "127.0.0.1:1"},
		{"worker", "--id", "a", "--data", dir, "--listen", taken, "--datacenter", "here", "--managers", "127.0.0.1:1"},
	} {
		p := run(t, command.ExitUsage, args...)
		p.says(taken, "port", "choose another")
	}
}

// TestBadDataDirectory: a node says why its directory cannot serve, and with
// which flag that changes.
func TestBadDataDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gate := func(id, data string) []string {
		return []string{"gate", "--id", id, "--listen", "127.0.0.1:0", "--data", data}
	}
	own := filepath.Join(dir, "own")
	first := start(t, gate("first", own)...)
	first.await(upLine)
	run(t, command.ExitUsage, gate("first", own)...).says("another process uses it: stop that one, or choose another --data")
	first.signal(syscall.SIGINT)
	first.expect(command.ExitGood)
	run(t, command.ExitUsage, gate("second", own)...).says(`it belongs to node "first", not to "second": choose another --data, or start with --id first`)

	file := write(t, "file", "no directory")
	run(t, command.ExitUsage, gate("g", file)...).says("data", "--data")
	run(t, command.ExitUsage, gate("g", "/proc/none")...).says("data", "--data")
}

// testStrangeNodes: both sides refuse a node that does not belong here, with an explanation.
func testStrangeNodes(t *testing.T) {
	c := startCluster(t, 1)
	worker := func(id string, args ...string) *process {
		return start(t, append([]string{"worker", "--id", id, "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), id), "--managers", c.managerAddr, "--cores", "1"}, args...)...)
	}
	other := worker("w-other", "--datacenter", "here", "--cluster", "other")
	other.await(`the peer's cluster is \\"default\\", this node wants \\"other\\": set --cluster to the same name`)
	c.manager.await(`the peer's cluster is \\"other\\", this node wants \\"default\\": set --cluster to the same name`)

	worker("w-far", "--datacenter", "elsewhere")
	c.manager.await(`peer-refused .*peer=w-far .*its datacenter is \\"elsewhere\\", this one is \\"here\\": correct its --datacenter or its --managers`)
	worker("worker-1", "--datacenter", "here")
	c.manager.await(`peer-refused .*peer=worker-1 .*has this name: give the one at 127.0.0.1:\d+ an --id of its own`)
	lost := worker("w-lost", "--datacenter", "here", "--seed", c.gateAddr)
	lost.await(`the peer's role is \\"gate\\", this node wants one that a worker calls: correct --managers or --seed: the gate gate-1 has this address`)
	twin := start(t, "manager", "--id", "manager-1", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "m"), "--datacenter", "here", "--gates", c.gateAddr)
	c.gate.await(`peer-refused .*peer=manager-1 .*has this name: give the one at 127.0.0.1:\d+ an --id of its own`)
	twin.await(`peer-refused .*peer=gate-1 .*took no heartbeat of this manager`)

	file := write(t, "load.star", loadFile)
	run(t, command.ExitUsage, "submit", file, "--set", "target=http://127.0.0.1:1", "--gate", c.gateAddr, "--datacenters", "mars").
		says("unknown datacenter", `"mars"`, "list them with `hyperscale datacenters`")
}

// TestBadConfigFile: each fault of a file is named with its value and remedy.
func TestBadConfigFile(t *testing.T) {
	t.Parallel()
	run(t, command.ExitUsage, "gate", "--config", write(t, "gate.yaml", "id: gate-1\ncolour: blue\n")).says("colour")
	run(t, command.ExitUsage, "gate", "--config", write(t, "gate.yaml", "id: gate-1\ndata: d\nstop_timeout: -5s\n")).
		says("stop_timeout = -5s must be above 0s")
	run(t, command.ExitUsage, "gate", "--config", write(t, "gate.yaml", "id: [\n")).says("gate.yaml")
	run(t, command.ExitUsage, "gate", "--config", "/nonexistent/gate.yaml").says("/nonexistent/gate.yaml")
}

// testUnknownGates: no address answers as a gate does, and the command ends with the address
// and the reason.
func testUnknownGates(t *testing.T) {
	file := write(t, "load.star", loadFile)
	foreign := strings.TrimPrefix(serveTarget(t), "http://")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }() // it accepts no connection
	gate := start(t, "gate", "--id", "g", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	stranger := start(t, "datacenters", "--gate", gate.await(upLine), "--environment", "prod")
	begun := time.Now()
	asked := map[string]*process{}
	for _, address := range []string{"127.0.0.1:1", "no-such-gate.invalid:1", foreign, silent.Addr().String()} {
		asked[address] = start(t, "submit", file, "--set", "target=http://127.0.0.1:1", "--gate", address)
	}
	for address, why := range map[string]string{
		"127.0.0.1:1":            "no program listens there",
		"no-such-gate.invalid:1": "no such host",
		foreign:                  "does not speak this protocol",
		silent.Addr().String():   "does not speak this protocol",
	} {
		p := asked[address].expect(command.ExitFailed)
		p.says(address, why, "check --gate", "submitting again with --key [A-Z0-9]+ is safe")
		if p.out.String() != "" {
			t.Errorf("stdout is for the job's id, and has %q", p.out.String())
		}
	}
	stranger.expect(command.ExitFailed).says(`the peer's environment is "default", this node wants "prod": set --environment`)
	gate.await(`the peer's environment is \\"prod\\", this node wants \\"default\\"`)
	if took := time.Since(begun); took > 40*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestClosedStdout: the reader of stdout may go away.
func TestClosedStdout(t *testing.T) {
	t.Parallel()
	url := serveTarget(t, "--latency", "1ms")
	for _, args := range [][]string{
		{"run", url + "/", "--vus", "1", "--duration", "100ms", "--cores", "1", "--ui", "none"},
		{"version"}, {"--help"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close() // no process reads
		p := startAs(t, func(c *exec.Cmd) { c.Stdout = w }, args...)
		_ = w.Close() // the process has its own
		if code := p.code(); code == command.ExitGood {
			t.Errorf("%v: nobody could read, and the exit code is 0", args)
		}
	}
}
