package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/client"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/runtime/host"
	"hyperscale/runtime/seal"
)

// port is one that strangers reach, and how long it bears with them.
type port struct {
	name, address string
	pid           int
	patience      time.Duration
}

// ports are all those of a cluster and a target.
func (c *cluster) ports(served *process, url string) []port {
	nodes := []struct {
		id string
		p  *process
	}{{"gate-1", c.gate}, {"manager-1", c.manager}, {"worker-1", c.workers[0]}}
	var all []port
	for _, n := range nodes {
		pid := n.p.cmd.Process.Pid
		all = append(all, port{n.id, n.p.await(upLine), pid, 5 * time.Second}, port{n.id + "'s admin", c.admins[n.id], pid, 5 * time.Second})
	}
	return append(all, port{"target", strings.TrimPrefix(url, "http://"), served.cmd.Process.Pid, 10 * time.Second})
}

// garbage is what strangers say.
func garbage(t *testing.T) map[string][]byte {
	t.Helper()
	noise := make([]byte, 64<<10)
	_, _ = rand.Read(noise) // never fails: it ends the process instead
	hello, err := message.Append(nil, &message.Hello{Major: 1, Cluster: "default", Environment: "default", Node: "stranger", Incarnation: 1, Role: uint8(node.RoleClient)})
	if err != nil {
		t.Fatal(err)
	}
	greeted := append(binary.BigEndian.AppendUint32(nil, uint32(len(hello))), hello...)
	return map[string][]byte{
		"noise":                 noise,
		"4 GiB":                 append([]byte{0xff, 0xff, 0xff, 0xff}, noise[:1000]...),
		"4 GiB after Hello":     append(greeted, 0xff, 0xff, 0xff, 0xff, 1, 2, 3),
		"noise after Hello":     append(bytes.Clone(greeted), append([]byte{0, 0, 1, 0}, noise[:256]...)...),
		"a request":             []byte("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"),
		"an endless head":       append([]byte("GET / HTTP/1.1\r\nX: "), bytes.Repeat([]byte("x"), 1<<20)...),
		"nothing":               nil,
		"zeroes":                make([]byte, 4096),
		"the whole of a length": {0, 0x10, 0, 0},
	}
}

// closedWithin reads until the other side closes the connection.
func closedWithin(conn net.Conn, bound time.Duration) error {
	_ = conn.SetReadDeadline(time.Now().Add(bound)) // a closed conn says so at the read
	_, err := io.Copy(io.Discard, conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("still open after %v", bound)
	}
	return nil
}

// holding counts a process's open files and goroutines.
type holding struct{ files, goroutines int }

func (c *cluster) holdings(t *testing.T, ports []port) map[string]holding {
	t.Helper()
	held := map[string]holding{}
	for _, p := range ports {
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.pid))
		if err != nil {
			t.Fatal(err)
		}
		h := holding{files: len(files)}
		if admin := c.admins[p.name]; admin != "" {
			h = holding{int(metric(t, admin, "process_open_fds")), int(metric(t, admin, "go_goroutines"))}
		}
		held[p.name] = h
	}
	return held
}

// settles waits until no process holds more than before.
func (c *cluster) settles(t *testing.T, ports []port, before map[string]holding) {
	t.Helper()
	var now map[string]holding
	grown := func() string {
		now = c.holdings(t, ports)
		for name, h := range now {
			// A heartbeat or a scrape may be on its way.
			if h.files > before[name].files+3 || h.goroutines > before[name].goroutines+6 {
				return name
			}
		}
		return ""
	}
	for limit := time.Now().Add(10 * time.Second); grown() != ""; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Errorf("%s holds more than before: %+v, it was %+v", grown(), now, before)
			return
		}
	}
	t.Logf("files and goroutines before %+v, after %+v", before, now)
}

// TestStrangers has tests that mostly wait for deadlines: they run in parallel, however few the
// cores.
func TestStrangers(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for name, f := range map[string]func(*testing.T){"ports": testHostilePorts, "nodes": testStrangeNodes, "gates": testUnknownGates, "crowd": testCrowd} {
		all.Go(func() { t.Run(name, f) })
	}
	all.Wait()
}

// testCrowd: strangers of many addresses that hold more connections than a gate allows, and say
// nothing, half a handshake or garbage, keep no client out. They cost the gate less than 64 MiB.
func testCrowd(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	run(t, command.ExitGood, "secret", "new", secret)
	others, err := seal.Parse([]byte(seal.New()))
	if err != nil {
		t.Fatal(err)
	}
	opening := seal.NewRing("", others).Begin(true).Opening()
	for _, sealed := range [][]string{nil, {"--cluster-secret", secret}} {
		gate := start(t, append([]string{"gate", "--id", "g", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, sealed...)...)
		address, pid := gate.await(upLine), gate.cmd.Process.Pid
		before := memory(t, pid, "VmHWM")
		texts := garbage(t)
		texts["half an opening"] = opening[:len(opening)/2]
		texts["another secret"] = opening
		kinds := append(slices.Sorted(maps.Keys(texts)), slices.Repeat([]string{"nothing", "half an opening"}, len(texts))...)
		for n := range 2000 {
			from := net.TCPAddr{IP: net.IPv4(127, 1, byte(n>>8), byte(n))}
			conn, err := (&net.Dialer{LocalAddr: &from}).Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }() // the gate may have closed it
			text := texts[kinds[n%len(kinds)]]
			_, _ = conn.Write(text[:min(len(text), 4096)]) // likewise
			udp, err := net.Dial("udp", address)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = udp.Write(text[:min(len(text), 1200)]) // no process answers
			_ = udp.Close()
		}
		run(t, command.ExitGood, append([]string{"datacenters", "--gate", address}, sealed...)...)
		if grown := memory(t, pid, "VmHWM") - before; grown > 64<<20 {
			t.Errorf("2,000 strangers cost a gate %d MiB, secret %v", grown>>20, sealed)
		} else {
			t.Logf("2,000 strangers cost a gate %d MiB, secret %v", grown>>20, sealed)
		}
	}
}

// testHostilePorts sends garbage, lengths of 4 GiB and single bytes to each port of a cluster
// and a target. Each such connection ends within its deadline, nothing remains, and the cluster
// continues to work.
func testHostilePorts(t *testing.T) {
	served := start(t, "target", "--listen", "127.0.0.1:0")
	url := served.await(`(http://\S+) is up`)
	c := startCluster(t, 1)
	ports := c.ports(served, url)
	stats(t, url)
	before := c.holdings(t, ports)

	var all sync.WaitGroup
	for _, p := range ports {
		all.Go(func() { floods(t, p) })
		all.Go(func() { trickles(t, p) })
	}
	all.Wait()
	c.settles(t, ports, before)
	for _, p := range ports {
		peak := memory(t, p.pid, "VmHWM")
		if peak > 256<<20 {
			t.Errorf("%s took %d MiB", p.name, peak>>20)
		}
		t.Logf("%s: at most %d MiB", p.name, peak>>20)
	}
	run(t, command.ExitGood, "submit", write(t, "load.star", loadFile), "--gate", c.gateAddr, "--set", "target="+url, "--duration", "100ms", "--wait", "--ui", "none")
}

// floods says each kind of garbage many times, in connections and datagrams.
func floods(t *testing.T, p port) {
	udp, err := net.Dial("udp", p.address)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = udp.Close() }() // no process answers
	open := map[net.Conn]string{}
	for kind, text := range garbage(t) {
		for range 10 {
			conn, err := net.Dial("tcp", p.address)
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				return
			}
			_ = conn.SetWriteDeadline(time.Now().Add(p.patience))
			_, _ = conn.Write(text)                         // it may be closed by now, which is what we want
			_, _ = udp.Write(text[:min(len(text), 60_000)]) // a closed port refuses
			open[conn] = kind
		}
	}
	late := time.Now().Add(p.patience + 3*time.Second)
	for conn, kind := range open {
		if kind != "nothing" { // who says nothing may go by itself
			if err := closedWithin(conn, time.Until(late)); err != nil {
				t.Errorf("%s, %s: %v", p.name, kind, err)
			}
		}
		_ = conn.Close()
	}
}

// trickles says a byte of a good beginning now and then.
func trickles(t *testing.T, p port) {
	text := "GET / HTTP/1.1\r\nX-Slow: " + strings.Repeat("x", 1000)
	if !strings.Contains(p.name, "admin") && p.name != "target" {
		text = "\x00\x00\x04\x00" + strings.Repeat("\x01", 1000)
	}
	var conns []net.Conn
	for range 20 {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			return
		}
		conns = append(conns, conn)
	}
	begun := time.Now()
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for i := range text {
			for _, conn := range conns {
				_, _ = conn.Write([]byte(text[i : i+1])) // closed is what we wait for
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	for _, conn := range conns {
		if err := closedWithin(conn, time.Until(begun.Add(p.patience+3*time.Second))); err != nil {
			t.Errorf("%s bears slow-loris: %v", p.name, err)
		}
	}
	close(done)
	writer.Wait()
	for _, conn := range conns {
		_ = conn.Close()
	}
	t.Logf("%s closed slow-loris after %v", p.name, time.Since(begun).Round(time.Millisecond))
}

// TestSubmitFlood: 10,000 submissions at once, of a hundred clients. Each gets an
// answer, those that are refused hear when to come back, those that are accepted
// can be cancelled, and the gate's memory stays bounded.
func TestSubmitFlood(t *testing.T) {
	t.Parallel()
	const clients, each = 100, 100
	c := startCluster(t, 1)
	before := c.holdings(t, []port{{name: "gate-1", pid: c.gate.cmd.Process.Pid}})
	program := message.Program{Main: "load.star", Files: []message.File{{Name: "load.star", Data: []byte(loadFile)}}, Params: []message.Param{{Name: "target", Value: "http://127.0.0.1:1"}}, Duration: time.Hour, Seed: 1}
	loaded, err := workflow.Load(program)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	accepted := make([][]message.JobID, clients)
	var refused [clients]int
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			n := dialNode(t, c.gateAddr, fmt.Sprintf("flood-%d", i))
			if n == nil {
				return
			}
			defer n.Kill()
			for _, answer := range ask(t, n, each, func(k int) node.Message {
				return &message.JobSubmit{Key: fmt.Sprintf("%d-%d", i, k), Name: "load.star", Program: program, Plan: *loaded.Plan()}
			}) {
				switch m := answer.(type) {
				case *message.JobAck:
					accepted[i] = append(accepted[i], m.Job)
				case *message.Refused:
					refused[i]++
					if m.RetryAfter <= 0 {
						t.Errorf("refused without saying when to come back: %+v", m)
					}
				default:
					t.Errorf("a submission was answered with %T", answer)
				}
			}
		})
	}
	all.Wait()
	took := time.Since(begun)
	var jobs []message.JobID
	var no int
	for i := range clients {
		jobs, no = append(jobs, accepted[i]...), no+refused[i]
	}
	peak := memory(t, c.gate.cmd.Process.Pid, "VmHWM")
	t.Logf("10,000 submissions in %v: %d accepted, %d refused; the gate took at most %d MiB", took, len(jobs), no, peak>>20)
	if len(jobs)+no != clients*each || len(jobs) == 0 || no == 0 || peak > 256<<20 {
		t.Errorf("%d accepted and %d refused of %d, %d MiB", len(jobs), no, clients*each, peak>>20)
	}

	n := dialNode(t, c.gateAddr, "canceller")
	if n == nil {
		return
	}
	defer n.Kill()
	for from := 0; from < len(jobs); from += 500 {
		some := jobs[from:min(from+500, len(jobs))]
		for _, answer := range ask(t, n, len(some), func(k int) node.Message { return &message.JobCancel{Job: some[k]} }) {
			if _, ok := answer.(*message.JobCancelAck); !ok {
				t.Errorf("a cancellation was answered with %+v", answer)
			}
		}
	}
	eventually(t, "all jobs end", patience, func() bool {
		for _, answer := range ask(t, n, 3, func(k int) node.Message { return &message.JobQuery{Job: jobs[k*(len(jobs)-1)/2]} }) {
			if s, ok := answer.(*message.JobStatus); !ok || s.State != message.JobCancelled {
				return false
			}
		}
		return true
	})
	c.settles(t, []port{{name: "gate-1", pid: c.gate.cmd.Process.Pid}}, before)
}

// dialNode makes a client in this process, where one a command would be too many.
func dialNode(t *testing.T, gate, id string) *host.Node {
	config := client.Default()
	config.Gates = []node.Addr{node.Addr(gate)}
	n, err := host.Start(host.Options{Role: node.RoleClient, ID: node.ID(id), Cluster: "default", Environment: "default", Machine: client.New(config)})
	if err != nil {
		t.Error(err)
		return nil
	}
	return n
}

// ask asks all at once and returns the answers.
func ask(t *testing.T, n *host.Node, count int, question func(int) node.Message) []node.Message {
	ctx, cancel := context.WithTimeout(context.Background(), client.Default().AskTimeout) // a busy machine answers late
	defer cancel()
	answers := make([]node.Message, count)
	var all sync.WaitGroup
	for k := range count {
		all.Go(func() {
			s, err := n.Command(ctx, question(k))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			answers[k] = <-s.Answers()
		})
	}
	all.Wait()
	return answers
}
