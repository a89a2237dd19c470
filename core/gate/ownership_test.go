package gate_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// three is a group of three gates with one manager per datacenter, and a model that remembers
// what happened.
type three struct {
	*cluster
	rt       *rapid.T
	holders  map[message.JobID]node.ID // the gate that acts now
	tokens   map[message.JobID]message.LeaseToken
	counted  map[string]bool
	acked    map[message.JobID]bool
	ended    map[message.JobID]message.JobState
	orders   []groupOrder
	owned    map[string]message.Fence // the fence under which a datacenter's manager has a job, by job and datacenter
	keys     int
	lost     bool // whether a disk was lost
	sequence uint64
}

type groupOrder struct {
	place    string
	dispatch *message.JobDispatch
}

func newThree(t *testing.T, rt *rapid.T) *three {
	c := gate.Default()
	c.Lease, c.QuorumTimeout = 6*time.Second, time.Second
	w := &three{
		cluster: &cluster{config: c}, rt: rt, holders: map[message.JobID]node.ID{}, tokens: map[message.JobID]message.LeaseToken{},
		counted: map[string]bool{}, acked: map[message.JobID]bool{}, ended: map[message.JobID]message.JobState{}, owned: map[string]message.Fence{},
	}
	w.boot(t, 3)
	for _, m := range w.gates {
		m.world.Discard = true
		m.world.WatchEvent = func(e node.Event) { w.onEvent(m, e) }
		pass := m.world.WatchSend
		m.world.WatchSend = func(s node.StreamID, msg node.Message) {
			pass(s, msg)
			w.onSend(m, s, msg)
		}
	}
	return w
}

func (w *three) onEvent(m *member, e node.Event) {
	switch e := e.(type) {
	case event.LeaseGranted:
		if at, ok := w.tokens[e.Job]; ok && !at.Less(e.Token) {
			w.rt.Fatalf("job %v is granted under %v after %v", e.Job, e.Token, at)
		}
		if who := w.holders[e.Job]; who != "" && who != node.ID(m.name) && w.at(node.Addr(who+":1")).world.Running() {
			w.rt.Fatalf("job %v is granted to %s while %s acts for it", e.Job, m.name, who)
		}
		w.tokens[e.Job], w.holders[e.Job] = e.Token, node.ID(m.name)
	case event.LeaseEnded:
		if w.holders[e.Job] == node.ID(m.name) {
			delete(w.holders, e.Job)
		}
	case event.SubjobCounted:
		key := fmt.Sprintf("%v/%s", e.Job, e.Datacenter)
		if w.counted[key] {
			w.rt.Fatalf("subjob %s is counted twice, now under %v by %s", key, e.Fence, m.name)
		}
		w.counted[key] = true
	}
}

func (w *three) onSend(m *member, s node.StreamID, msg node.Message) {
	switch msg := msg.(type) {
	case *message.JobDispatch:
		if w.holders[msg.Job] != node.ID(m.name) {
			w.rt.Fatalf("%s dispatches job %v, %q acts for it", m.name, msg.Job, w.holders[msg.Job])
		}
		for _, place := range []string{"a", "b"} {
			if slices.Contains(m.world.StreamsOf(node.ID("m"+place)), s) {
				w.orders = append(w.orders, groupOrder{place, msg})
			}
		}
	case *message.JobAck:
		w.acked[msg.Job] = true
	case *message.JobStatus:
		w.told(m, msg.Job, msg.State)
	case *message.JobResult:
		w.told(m, msg.Result.Job, msg.Result.State)
	case *message.JobCancelAck:
		w.told(m, msg.Job, msg.State)
	}
}

// told asserts that no two gates publish two ends of a job, and that none publishes anything
// after its end.
func (w *three) told(m *member, id message.JobID, s message.JobState) {
	if end, ok := w.ended[id]; ok && end != s {
		w.rt.Fatalf("job %v was told to be %v, and %s says %v", id, end, m.name, s)
	}
	if s.Terminal() {
		w.ended[id] = s
	}
}

func (w *three) running() []*member {
	return slices.DeleteFunc(slices.Clone(w.gates), func(m *member) bool { return !m.world.Running() })
}

func (w *three) stream(m *member, id node.ID, role node.Role) node.StreamID {
	if s := m.world.StreamsOf(id); len(s) > 0 {
		return s[len(s)-1]
	}
	return m.world.Accept(node.Peer{ID: id, Incarnation: 1, Role: role, Addr: node.Addr(string(id) + ":1")})
}

// beat makes both datacenters send all gates what they have, and accept the dispatches under
// the highest job epoch.
func (w *three) beat() {
	for _, o := range w.orders {
		key := fmt.Sprintf("%v/%s", o.dispatch.Job, o.place)
		if at := w.owned[key]; at.JobEpoch < o.dispatch.Fence.JobEpoch {
			w.owned[key] = message.Fence{JobEpoch: o.dispatch.Fence.JobEpoch, SubjobEpoch: 257}
		}
	}
	w.sequence++
	for _, m := range w.running() {
		for _, place := range []string{"a", "b"} {
			h := &message.ManagerHeartbeat{Datacenter: place, Sequence: w.sequence, CoresTotal: 8, CoresFree: 8, WorkerSum: 2}
			var jobs []message.JobID
			for _, o := range w.orders {
				if o.place == place && !slices.Contains(jobs, o.dispatch.Job) {
					jobs = append(jobs, o.dispatch.Job)
					h.Subjobs = append(h.Subjobs, message.SubjobRef{Job: o.dispatch.Job, Fence: w.owned[fmt.Sprintf("%v/%s", o.dispatch.Job, place)], State: message.JobRunning})
				}
			}
			m.world.Receive(w.stream(m, node.ID("m"+place), node.RoleManager), h)
			w.pump()
		}
	}
}

func (w *three) pass(d time.Duration) {
	const step = 50 * time.Millisecond
	for ; d > 0; d -= step {
		for _, m := range w.gates {
			m.world.Advance(min(step, d))
			w.pump()
		}
		if w.since += step; w.since >= time.Second {
			w.since = 0
			w.beat()
		}
	}
}

func (w *three) submits(t *rapid.T) {
	if rapid.Bool().Draw(t, "new") {
		w.keys++
	}
	in := rapid.SampledFrom([][]string{nil, {"a"}, {"b"}, {"a", "b"}}).Draw(t, "in")
	w.client(t, func(m *member) node.Message { return m.submission(fmt.Sprintf("k%d", w.keys), in, 2) })
}

// client sends a message to one gate, or to two of them before either has heard of the other's.
func (w *three) client(t *rapid.T, say func(*member) node.Message) {
	gates := w.running()
	for range rapid.IntRange(1, 2).Draw(t, "gates") {
		if len(gates) > 0 {
			m := rapid.SampledFrom(gates).Draw(t, "gate")
			m.world.Receive(w.stream(m, "client", node.RoleClient), say(m))
		}
	}
	w.pump()
}

func (w *three) asks(t *rapid.T) {
	if w.keys == 0 {
		return
	}
	job := message.JobOf(fmt.Sprintf("k%d", rapid.IntRange(1, w.keys).Draw(t, "job")))
	what := rapid.IntRange(0, 5).Draw(t, "question")
	w.client(t, func(m *member) node.Message {
		m.request++
		r := message.RequestID{Incarnation: 1, Counter: m.request}
		switch what {
		case 0:
			return &message.JobCancel{Request: r, Job: job}
		case 1, 2:
			return &message.JobWatch{Request: r, Job: job}
		}
		return &message.JobQuery{Request: r, Job: job}
	})
}

// answers makes a manager accept a subjob or send its result, to any gate.
func (w *three) answers(t *rapid.T) {
	if len(w.orders) == 0 || len(w.running()) == 0 {
		return
	}
	o := rapid.SampledFrom(w.orders).Draw(t, "order")
	fence := o.dispatch.Fence
	fence.SubjobEpoch = 257
	var m node.Message = &message.JobAccepted{Job: o.dispatch.Job, Fence: fence}
	if rapid.Bool().Draw(t, "ends") {
		m = subjobResult(o.dispatch.Job, fence, o.place, rapid.SampledFrom([]message.JobState{message.JobCompleted, message.JobFailed}).Draw(t, "state"), 10, "")
	}
	g := rapid.SampledFrom(w.running()).Draw(t, "gate")
	g.world.Receive(w.stream(g, node.ID("m"+o.place), node.RoleManager), m)
	w.pump()
}

// fault crashes, starts, stops, isolates or joins gates.
func (w *three) fault(t *rapid.T) {
	m := rapid.SampledFrom(w.gates).Draw(t, "gate")
	switch rapid.IntRange(0, 6).Draw(t, "fault") {
	case 0:
		if m.world.Running() {
			w.depart(m)
			m.world.Crash()
			w.drop(m)
		}
	case 1:
		if m.world.Running() {
			m.world.Stop()
		}
	case 2:
		m.cut = true
		w.depart(m)
	case 3:
		w.loseDisk(m)
	default:
		w.mend()
	}
	w.pump()
}

// loseDisk deletes one gate's disk, once: nothing promises to survive the loss of two of three
// disks.
func (w *three) loseDisk(m *member) {
	if w.lost || len(w.running()) < len(w.gates) || slices.ContainsFunc(w.gates, func(o *member) bool { return o.cut }) {
		return
	}
	w.lost = true
	w.depart(m)
	m.world.Crash()
	w.drop(m)
	m.world.LoseDisk()
	m.world.Start()
}

// drop forgets what a crashed gate was about to send, and that it acted.
func (w *three) drop(m *member) {
	//lint:orderfree each is judged by itself
	for id, who := range w.holders {
		if who == node.ID(m.name) {
			delete(w.holders, id)
		}
	}
}

func (w *three) mend() {
	for _, m := range w.gates {
		m.cut = false
		if !m.world.Running() {
			w.depart(m)
			w.drop(m)
			m.world.Crash()
			m.world.Start()
		}
	}
}

// TestGroupsOwnJobsOnce: whatever happens to gates and the network, no two gates act for a job
// at once, tokens grow, and subjobs count once. Clients hear of one end only, and after repairs
// every acknowledged job ends.
func TestGroupsOwnJobsOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newThree(t, rt)
		w.pass(3 * time.Second)
		rt.Repeat(map[string]func(*rapid.T){
			"submit": w.submits, "ask": w.asks, "answer": w.answers, "answer again": w.answers, "fault": w.fault,
			"pass": func(t *rapid.T) { w.pass(time.Duration(rapid.IntRange(1, 4000).Draw(t, "ms")) * time.Millisecond) },
		})
		w.settle()
	})
}

func (w *three) settle() {
	for range 2 { // a gate that was asked to stop may still have been busy
		w.mend()
		w.pump()
		w.pass(4 * time.Second)
	}
	for range 60 {
		w.pass(time.Second)
		for _, o := range slices.Clone(w.orders) {
			fence := o.dispatch.Fence
			fence.SubjobEpoch = 257
			for _, m := range w.running() {
				m.world.Receive(w.stream(m, node.ID("m"+o.place), node.RoleManager), subjobResult(o.dispatch.Job, fence, o.place, message.JobCompleted, 10, ""))
				w.pump()
			}
		}
	}
	for k := range w.keys {
		id := message.JobOf(fmt.Sprintf("k%d", k+1))
		for _, m := range w.gates {
			m.request++
			m.world.Receive(w.stream(m, "client", node.RoleClient), &message.JobQuery{Request: message.RequestID{Incarnation: 1, Counter: m.request}, Job: id})
			w.pump()
		}
		w.pass(2 * time.Second)
		if w.acked[id] && !w.ended[id].Terminal() {
			w.rt.Fatalf("job %v (k%d) is acknowledged and has not ended long after everything healed:\n%s", id, k+1, w.known())
		}
	}
}
