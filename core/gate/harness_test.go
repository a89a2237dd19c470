package gate_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/core/stats"
)

// member is a gate under test; the test plays its peers. All tests of this package use members:
// stories through the commands of a file, properties through the methods.
type member struct {
	world   *nodetest.Env
	config  gate.Config
	machine *gate.Machine
	name    string
	jobs    map[string]message.JobID // by the first digits of their IDs
	request uint64
	beats   uint64
	heard   map[node.ID][]node.Message // all messages to each peer of listen

	cut bool
	far map[node.StreamID]end // gates of a cluster, by this gate's stream
}

// end is one end of a stream between two gates.
type end struct {
	who    *member
	stream node.StreamID
}

func newMember(c gate.Config) *member { return newMemberOf("g1", c) }

func newMemberOf(name string, c gate.Config) *member {
	m := &member{config: c, name: name, jobs: map[string]message.JobID{}, heard: map[node.ID][]node.Message{}, far: map[node.StreamID]end{}}
	m.world = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: node.ID(name), Incarnation: 1, Role: node.RoleGate, Addr: node.Addr(name + ":1")}, Seed: 1,
		New: func() node.Machine {
			m.machine = gate.New(m.config)
			return m.machine
		},
	})
	m.world.WatchSend = func(_ node.StreamID, msg node.Message) {
		switch msg := msg.(type) {
		case *message.JobDispatch:
			m.jobs[msg.Job.String()[:6]] = msg.Job
		case *message.JobAck:
			m.jobs[msg.Job.String()[:6]] = msg.Job
		}
	}
	return m
}

// newListener starts a gate that prints nothing and records the messages to its peers.
func newListener(c gate.Config, peers ...node.Peer) *member {
	m := newMember(c)
	m.world.Discard = true
	m.listen(peers...)
	m.world.Start()
	for _, p := range peers {
		m.world.Accept(p)
	}
	return m
}

// listen records what the gate sends to peers.
func (m *member) listen(peers ...node.Peer) {
	seen := m.world.WatchSend
	m.world.WatchSend = func(s node.StreamID, msg node.Message) {
		seen(s, msg)
		for _, p := range peers {
			if slices.Contains(m.world.StreamsOf(p.ID), s) {
				m.heard[p.ID] = append(m.heard[p.ID], msg)
			}
		}
	}
}

func client(id node.ID) node.Peer {
	return node.Peer{ID: id, Incarnation: 1, Role: node.RoleClient}
}

func managerPeer(id node.ID) node.Peer {
	return node.Peer{ID: id, Incarnation: 1, Role: node.RoleManager, Addr: node.Addr(id + ":1")}
}

func (m *member) deliver(peer string, msg node.Message) {
	streams := m.world.StreamsOf(node.ID(peer))
	m.world.Receive(streams[len(streams)-1], msg)
}

// says makes a manager of datacenter a send a heartbeat that lists subjobs.
func (m *member) says(id node.ID, subjobs ...message.SubjobRef) {
	m.beats++
	m.deliver(string(id), &message.ManagerHeartbeat{Datacenter: "a", Sequence: m.beats, CoresTotal: 8, CoresFree: 8, WorkerSum: 2, Subjobs: subjobs})
}

// last returns the newest message of a type to a peer, and the number of such messages.
func last[T node.Message](m *member, id node.ID) (newest T, n int) {
	for _, msg := range m.heard[id] {
		if msg, ok := msg.(T); ok {
			newest, n = msg, n+1
		}
	}
	return newest, n
}

// dispatched submits a job and returns its first dispatch to any of the managers.
func (m *member) dispatched(t interface{ Fatal(...any) }, managers ...node.ID) (node.ID, *message.JobDispatch) {
	m.deliver("c1", m.submission("k", []string{"a"}, 2))
	for _, id := range managers {
		if d, n := last[*message.JobDispatch](m, id); n > 0 {
			return id, d
		}
	}
	t.Fatal("the job was not dispatched")
	return "", nil
}

func (m *member) ask() message.RequestID {
	m.request++
	return message.RequestID{Incarnation: 1, Counter: m.request}
}

func (m *member) submission(key string, in []string, vus uint64) *message.JobSubmit {
	m.request++
	return &message.JobSubmit{
		Request: message.RequestID{Incarnation: 1, Counter: m.request}, Key: key, Name: "test", Datacenters: in,
		Program: message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte("pass")}}},
		Plan: message.Plan{Source: "test.star", Workflows: []message.WorkflowPlan{{
			Name: "load", Test: true, VUs: vus, Duration: 10 * time.Second, Timeout: 5 * time.Second,
			Steps: []message.StepPlan{{Name: "get", Kind: message.StepRequest}},
		}}},
	}
}

// subjobResult is a result with n requests, each answered within 1 ms.
func subjobResult(id message.JobID, fence message.Fence, in string, state message.JobState, n uint64, text string) *message.SubjobResult {
	var h stats.Histogram
	h.RecordN(1_000_000, n)
	workflow := map[message.JobState]message.WorkflowState{
		message.JobCompleted: message.WorkflowCompleted, message.JobCancelled: message.WorkflowCancelled, message.JobTimedOut: message.WorkflowTimedOut,
	}[state]
	if workflow == message.WorkflowNone {
		workflow = message.WorkflowFailed
	}
	return &message.SubjobResult{Job: id, Fence: fence, Subjob: message.DatacenterResult{
		Name: in, State: state, Error: text, Duration: 10 * time.Second,
		Workflows: []message.WorkflowResult{{Name: "load", State: workflow, VUs: 4, Cores: 2, Duration: 10 * time.Second, Stats: message.Stats{
			Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: n, OK: n, Latency: h.Wire()}},
		}}},
		Workers: []message.WorkerShare{{Node: in + "-w1", State: message.WorkerDone, Started: n, OK: n}},
	}}
}

// cluster is a group of gates with the leases that they hold, and the managers that send
// heartbeats.
type cluster struct {
	config  gate.Config
	gates   []*member
	queue   []func() // messages on their way between gates
	beating map[string]*datadriven.TestData
	since   time.Duration // since the last heartbeats

	holder map[message.JobID]string // the gate that got each job's lease last
	grants map[string]int           // by gate
}

// newCluster starts gates that print nothing and record what they send to client c1.
func newCluster(t *testing.T, n int, c gate.Config) *cluster {
	w := &cluster{config: c, holder: map[message.JobID]string{}, grants: map[string]int{}}
	w.boot(t, n)
	for _, m := range w.gates {
		m.world.Discard = true
		m.world.WatchEvent = func(e node.Event) {
			if e, ok := e.(event.LeaseGranted); ok {
				w.holder[e.Job] = m.name
				w.grants[m.name]++
			}
		}
		m.listen(client("c1"))
		m.world.Accept(client("c1"))
	}
	w.time(3*time.Second, nil)
	return w
}

func (g *cluster) boot(t *testing.T, n int) {
	for i := range n {
		g.config.Gates = append(g.config.Gates, node.Addr(fmt.Sprintf("g%d:1", i+1)))
	}
	for i := range n {
		m := newMemberOf(fmt.Sprintf("g%d", i+1), g.config)
		hide(m, hiddenInGroups())
		for i := range 4 {
			m.tell(t, fmt.Sprintf("c%d", i+1), "client")
			m.tell(t, fmt.Sprintf("m%d", i+1), "manager")
		}
		g.gates = append(g.gates, m)
		g.join(m)
	}
	for _, m := range g.gates {
		m.world.Start()
	}
	g.pump()
}

// join forwards a gate's messages to the other gates.
func (g *cluster) join(m *member) {
	seen := m.world.WatchSend
	m.world.WatchOpen = func(s node.StreamID, to node.Addr) { g.queue = append(g.queue, func() { g.open(m, s, to) }) }
	m.world.WatchDatagram = func(to node.Addr, msg node.Message) {
		g.queue = append(g.queue, func() {
			if o := g.at(to); o != nil && !m.cut && !o.cut && o.world.Running() {
				o.world.ReceiveDatagram(m.world.Self(), msg)
			}
		})
	}
	m.world.WatchSend = func(s node.StreamID, msg node.Message) {
		seen(s, msg)
		g.queue = append(g.queue, func() {
			if far, ok := m.far[s]; ok && !m.cut && !far.who.cut && far.who.world.Running() {
				far.who.world.Receive(far.stream, msg)
			}
		})
	}
}

func (g *cluster) at(a node.Addr) *member {
	for _, m := range g.gates {
		if m.world.Self().Addr == a {
			return m
		}
	}
	return nil
}

func (g *cluster) open(m *member, s node.StreamID, to node.Addr) {
	o := g.at(to)
	if o == nil || m.cut || o.cut || !o.world.Running() {
		m.world.Break(s, "no route")
		return
	}
	theirs := o.world.Accept(m.world.Self())
	m.far[s], o.far[theirs] = end{o, theirs}, end{m, s}
	m.world.Opened(s, o.world.Self())
}

// depart breaks the streams between a gate and the other gates.
func (g *cluster) depart(m *member) {
	for _, s := range slices.Sorted(maps.Keys(m.far)) {
		far := m.far[s]
		delete(m.far, s)
		delete(far.who.far, far.stream)
		if far.who.world.Running() {
			far.who.world.Break(far.stream, "cut")
		}
		if m.world.Running() {
			m.world.Break(s, "cut")
		}
	}
}

func (g *cluster) pump() {
	for len(g.queue) > 0 {
		next := g.queue[0]
		g.queue = g.queue[1:]
		next()
	}
}

// time advances the clocks. Each second a manager of each datacenter sends all gates a
// heartbeat that lists the given subjobs.
func (w *cluster) time(d time.Duration, subjobs []message.SubjobRef) {
	const step = 100 * time.Millisecond
	for ; d > 0; d -= step {
		for _, m := range w.gates {
			m.world.Advance(step)
			w.pump()
		}
		if w.since += step; w.since < time.Second {
			continue
		}
		w.since = 0
		for _, m := range w.gates {
			if !m.world.Running() {
				continue
			}
			if len(m.world.StreamsOf("m1")) == 0 {
				m.world.Accept(managerPeer("m1"))
			}
			m.beats++
			m.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: m.beats, CoresTotal: 8, CoresFree: 8, WorkerSum: 2, Subjobs: subjobs})
			w.pump()
		}
	}
}

func (w *cluster) submit(m *member, key string) message.JobID {
	m.deliver("c1", m.submission(key, []string{"a"}, 2))
	w.pump()
	return message.JobOf(key)
}

func (w *cluster) drain(m *member, undo bool) {
	m.request++
	m.deliver("c1", &message.DrainRequest{Request: message.RequestID{Incarnation: 1, Counter: m.request}, Node: m.name, Undo: undo})
	w.pump()
}

func shortLease() gate.Config {
	c := gate.Default()
	c.Lease, c.QuorumTimeout = 6*time.Second, time.Second
	return c
}
