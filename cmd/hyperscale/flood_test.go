package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/runtime/transport"
)

// flooder sends requests on many streams, whatever is answered, and counts the answers. A client
// of ours waits for as long as a gate asks it to.
type flooder struct {
	*transport.Transport
	streams []node.StreamID
	counter uint64

	mu     sync.Mutex
	open   int
	broken []string
	sent   map[message.RequestID]request
	took   map[string][]time.Duration // by kind and answer
	jobs   []message.JobID
}

type request struct {
	kind string
	at   time.Time
}

// StreamOpened implements transport.Sink.
func (f *flooder) StreamOpened(node.StreamID, node.Peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
}

// StreamBroken implements transport.Sink.
func (f *flooder) Resolved(node.Names) {}

func (f *flooder) StreamBroken(_ node.StreamID, _ node.Peer, reason string, _ bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = append(f.broken, reason)
}

// Message implements transport.Sink.
func (f *flooder) Message(_ node.Peer, _ node.StreamID, m node.Message) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch m := m.(type) {
	case *message.JobAck:
		f.jobs = append(f.jobs, m.Job)
		f.answered(m.Request, "ok")
	case *message.JobStatus:
		f.answered(m.Request, "ok")
	case *message.JobCancelAck:
		f.answered(m.Request, "ok")
	case *message.Refused:
		f.answered(m.Request, m.Code.String())
	}
	return true
}

func (f *flooder) answered(r message.RequestID, how string) {
	if a, ok := f.sent[r]; ok {
		delete(f.sent, r)
		f.took[a.kind+": "+how] = append(f.took[a.kind+": "+how], time.Since(a.at))
	}
}

// put sends a request on the next stream.
func (f *flooder) put(kind string, m func(message.RequestID) node.Message) {
	f.mu.Lock()
	f.counter++
	r := message.RequestID{Incarnation: 1, Counter: f.counter}
	f.sent[r] = request{kind, time.Now()}
	to := f.streams[f.counter%uint64(len(f.streams))]
	f.mu.Unlock()
	f.Send(to, m(r))
}

// newFlooder opens so many streams to a gate.
func newFlooder(t *testing.T, gate string, streams int) *flooder {
	t.Helper()
	sockets, err := transport.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &flooder{sent: map[message.RequestID]request{}, took: map[string][]time.Duration{}}
	f.Transport = transport.New(transport.Config{
		Self: node.Peer{ID: "flooder", Role: node.RoleClient, Incarnation: 1}, Cluster: "default", Environment: "default",
	}, sockets)
	t.Cleanup(f.Kill)
	f.Serve(f)
	for range streams {
		f.streams = append(f.streams, f.Open(node.Addr(gate)))
	}
	eventually(t, "all streams are open", patience, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.open == streams
	})
	return f
}

// floodRate is how many requests TestFloodedGate sends in a second: HYPERSCALE_FLOOD, else few
// enough for the tests beside it.
func floodRate(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("HYPERSCALE_FLOOD"), "2000"))
	if err != nil || n < 10 {
		t.Fatalf("HYPERSCALE_FLOOD = %q: it is a number of requests a second from 10", os.Getenv("HYPERSCALE_FLOOD"))
	}
	return n
}

// A gate that is flooded with jobs, queries and cancellations by clients that never wait answers
// each, breaks no stream, blames no majority, and stays small. A job that runs meanwhile loses
// nothing.
func TestFloodedGate(t *testing.T) {
	t.Parallel()
	rate := floodRate(t)
	c := startCluster(t, 1)
	url := serveTarget(t)
	job := c.submit(write(t, "load.star", loadFile), "--set", "target="+url, "--vus", "2", "--duration", "6s")
	watch, out := c.watch(job)
	f := newFlooder(t, c.gateAddr, min(1000, max(20, rate/20)))
	program := message.Program{Main: "load.star", Files: []message.File{{Name: "load.star", Data: []byte(loadFile)}}, Params: []message.Param{{Name: "target", Value: url}}, Duration: time.Second, Seed: 1}
	loaded, err := workflow.Load(program)
	if err != nil {
		t.Fatal(err)
	}
	begun, n := time.Now(), 0
	for time.Since(begun) < 3*time.Second {
		for ; n < int(time.Since(begun).Seconds()*float64(rate)); n++ {
			f.mu.Lock()
			id := message.JobOf("none")
			if len(f.jobs) > 0 {
				id = f.jobs[n%len(f.jobs)]
			}
			f.mu.Unlock()
			switch n % 20 {
			case 0:
				f.put("cancel", func(r message.RequestID) node.Message { return &message.JobCancel{Request: r, Job: id} })
			case 1, 2, 3, 4, 5:
				f.put("submit", func(r message.RequestID) node.Message {
					return &message.JobSubmit{Request: r, Key: fmt.Sprint("flood-", n), Name: "load.star", Program: program, Plan: *loaded.Plan()}
				})
			default:
				f.put("query", func(r message.RequestID) node.Message { return &message.JobQuery{Request: r, Job: id} })
			}
		}
		time.Sleep(time.Millisecond)
	}
	eventually(t, "each request is answered", patience, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.sent) == 0
	})
	watch.expect(command.ExitGood)
	r := readResult(t, out)
	adds(t, r)
	peak := memory(t, c.gate.cmd.Process.Pid, "VmHWM")
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, code := range []message.Code{message.CodeQuorumUnavailable, message.CodeQuorumTimeout, message.CodeCircuitOpen} {
		for _, kind := range []string{"submit", "query", "cancel"} {
			if k := len(f.took[kind+": "+code.String()]); k > 0 {
				t.Errorf("%d of %ss were refused with %q by a gate that needs no other", k, kind, code)
			}
		}
	}
	if len(f.broken) > 0 || peak > 192<<20 || len(r.Workflows[0].Lost) > 0 {
		t.Errorf("%d streams broke %.200q, the gate took %d MiB, the job lost %v", len(f.broken), f.broken, peak>>20, r.Workflows[0].Lost)
	}
	t.Logf("%d requests in 3s, the gate took at most %d MiB", n, peak>>20)
	for _, kind := range slices.Sorted(maps.Keys(f.took)) {
		l := f.took[kind]
		slices.Sort(l)
		t.Logf("%6d %s, %v (p50), %v (p99)", len(l), kind, l[len(l)/2].Round(time.Microsecond), l[len(l)*99/100].Round(time.Microsecond))
	}
}
