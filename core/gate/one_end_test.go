package gate_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// world is a gate among managers that answer at random, with a model that remembers what
// happened.
type world struct {
	*member
	rt       *rapid.T
	sequence uint64
	state    map[message.JobID]message.JobState
	counted  map[string]bool
	epoch    map[message.JobID]uint64 // highest that the job was dispatched under
	ended    map[message.JobID]message.JobState
	sent     []order
	keys     int
	again    map[message.JobID]bool // the gate may publish its last transition again
}

type order struct {
	manager  node.ID
	dispatch *message.JobDispatch
}

func newWorld(rt *rapid.T) *world {
	c := gate.Default()
	c.QueueMax, c.ResultsMax = 5, 3
	w := &world{
		member: newMember(c), rt: rt, state: map[message.JobID]message.JobState{}, counted: map[string]bool{},
		epoch: map[message.JobID]uint64{}, again: map[message.JobID]bool{}, ended: map[message.JobID]message.JobState{},
	}
	w.world.Discard = true
	w.world.WatchEvent, w.world.WatchSend = w.onEvent, w.onSend
	w.start()
	return w
}

func (w *world) start() {
	//lint:orderfree each is marked
	for id := range w.state {
		w.again[id] = true
	}
	w.world.Start()
	for _, p := range []node.Peer{
		{ID: "c1", Incarnation: 1, Role: node.RoleClient}, {ID: "m1", Incarnation: 1, Role: node.RoleManager},
		{ID: "m2", Incarnation: 1, Role: node.RoleManager}, {ID: "m3", Incarnation: 1, Role: node.RoleManager},
	} {
		w.world.Accept(p)
	}
}

func (w *world) onEvent(e node.Event) {
	switch e := e.(type) {
	case event.LeaseGranted: // the new owner publishes the job's last transition again
		w.again[e.Job] = w.state[e.Job] != message.JobNone
	case event.JobChanged:
		w.onJobChanged(e)
	case event.SubjobCounted:
		key := fmt.Sprintf("%v/%s", e.Job, e.Datacenter)
		if w.counted[key] {
			w.rt.Fatalf("subjob %s is counted twice, now under %v", key, e.Fence)
		}
		w.counted[key] = true
		if e.Started != 10 {
			w.rt.Fatalf("subjob %s is counted with %d starts, it has 10", key, e.Started)
		}
	case event.SubjobDispatched:
		if e.Fence.SubjobEpoch != 0 || e.Fence.JobEpoch < w.epoch[e.Job] {
			w.rt.Fatalf("job %v is dispatched under %v after epoch %d", e.Job, e.Fence, w.epoch[e.Job])
		}
		w.epoch[e.Job] = e.Fence.JobEpoch
	}
}

// onJobChanged asserts that transitions are legal and contiguous. A restart may repeat the last
// one, or publish one that was on disk and that no client had heard of.
func (w *world) onJobChanged(e event.JobChanged) {
	at, known := w.state[e.Job]
	again := w.again[e.Job]
	delete(w.again, e.Job)
	switch {
	case !lifecycle.LegalJob(e.From, e.To):
		w.rt.Fatalf("job %v goes from %v to %v", e.Job, e.From, e.To)
	case known && at.Terminal() && !(again && at == e.To):
		w.rt.Fatalf("job %v had ended %v and becomes %v", e.Job, at, e.To)
	case known && at != e.From && !again:
		w.rt.Fatalf("job %v is %v and goes on from %v", e.Job, at, e.From)
	}
	w.state[e.Job] = e.To
}

func (w *world) onSend(s node.StreamID, m node.Message) {
	switch m := m.(type) {
	case *message.JobDispatch:
		for _, id := range []node.ID{"m1", "m2", "m3"} {
			if slices.Contains(w.world.StreamsOf(id), s) {
				w.sent = append(w.sent, order{id, m})
			}
		}
	case *message.JobAck:
		if w.state[m.Job] == message.JobNone {
			w.rt.Fatalf("job %v is acknowledged before it is on disk", m.Job)
		}
	case *message.JobStatus:
		w.told(m.Job, m.State)
	case *message.JobResult:
		w.told(m.Result.Job, m.Result.State)
	case *message.JobCancelAck:
		w.told(m.Job, m.State)
	}
}

// told asserts that a client never hears of two ends.
func (w *world) told(id message.JobID, s message.JobState) {
	if end, ok := w.ended[id]; ok && end != s {
		w.rt.Fatalf("job %v was told to be %v and now %v", id, end, s)
	}
	if s.Terminal() {
		w.ended[id] = s
	}
}

func (w *world) beats(t *rapid.T) {
	id := rapid.SampledFrom([]node.ID{"m1", "m2", "m3"}).Draw(t, "manager")
	w.sequence++
	h := &message.ManagerHeartbeat{
		Datacenter: place(id), Sequence: w.sequence, CoresTotal: 8, CoresFree: uint32(rapid.IntRange(0, 8).Draw(t, "free")),
		WorkerSum: 2, Draining: rapid.IntRange(0, 9).Draw(t, "draining") == 9,
	}
	for at, o := range w.sent {
		if o.manager == id && rapid.Bool().Draw(t, "lists") {
			h.Subjobs = append(h.Subjobs, message.SubjobRef{Job: o.dispatch.Job, Fence: taken(o, at), State: message.JobRunning})
		}
	}
	w.deliver(string(id), h)
}

// taken is the fence under which a manager takes up a dispatch. A manager that receives it
// later has the higher epoch.
func taken(o order, at int) message.Fence {
	f := o.dispatch.Fence
	f.SubjobEpoch = message.LeaseToken{Epoch: uint64(at) + 1, Ordinal: 1}.Packed()
	return f
}

func place(id node.ID) string {
	if id == "m3" {
		return "b"
	}
	return "a"
}

func (w *world) submits(t *rapid.T) {
	if rapid.Bool().Draw(t, "new") {
		w.keys++
	}
	in := rapid.SampledFrom([][]string{nil, {"a"}, {"b"}, {"a", "b"}}).Draw(t, "in")
	w.deliver("c1", w.submission(fmt.Sprintf("k%d", w.keys), in, 2))
}

// answers makes a manager answer a dispatch: new or old, right or wrong.
func (w *world) answers(t *rapid.T) {
	if len(w.sent) == 0 {
		return
	}
	at := max(rapid.IntRange(0, len(w.sent)-1).Draw(t, "dispatch"), rapid.IntRange(0, len(w.sent)-1).Draw(t, "or a later one"))
	o := w.sent[at]
	job, fence := o.dispatch.Job, taken(o, at)
	var m node.Message
	switch rapid.IntRange(0, 5).Draw(t, "answer") {
	case 0, 1:
		m = &message.JobAccepted{Job: job, Fence: fence}
	case 2:
		code := rapid.SampledFrom([]message.Code{message.CodeNoCores, message.CodeDraining, message.CodeStaleFence, message.CodeBadPlan}).Draw(t, "code")
		m = &message.JobRefused{Job: job, Fence: fence, Code: code, Current: message.Fence{JobEpoch: fence.JobEpoch + 256}}
	case 3:
		m = &message.JobProgress{Job: job, Fence: fence, Sequence: rapid.Uint64Range(1, 5).Draw(t, "sequence"), Subjob: message.DatacenterResult{Name: place(o.manager)}}
	default:
		state := rapid.SampledFrom([]message.JobState{message.JobCompleted, message.JobFailed, message.JobCancelled, message.JobTimedOut}).Draw(t, "state")
		m = subjobResult(job, fence, place(o.manager), state, 10, "")
	}
	w.deliver(string(o.manager), m)
}

func (w *world) asks(t *rapid.T) {
	if len(w.jobs) == 0 || len(w.sent) == 0 {
		return
	}
	job := rapid.SampledFrom(w.sent).Draw(t, "job").dispatch.Job
	w.request++
	r := message.RequestID{Incarnation: 1, Counter: w.request}
	switch rapid.IntRange(0, 5).Draw(t, "question") {
	case 0:
		w.deliver("c1", &message.JobCancel{Request: r, Job: job})
	case 1, 2:
		w.deliver("c1", &message.JobWatch{Request: r, Job: job})
	default:
		w.deliver("c1", &message.JobQuery{Request: r, Job: job})
	}
}

func (w *world) disk(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "disk") {
	case 0:
		w.world.Held = true
	case 1:
		w.world.Complete(1, nil)
	case 2:
		w.world.Complete(1, fmt.Errorf("no space left on device"))
	default:
		w.world.Held = false
		w.world.Complete(w.world.Pending(), nil)
	}
}

func (w *world) crash(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "crash") > 0 {
		return
	}
	w.world.Crash()
	w.start()
}

// TestJobsEndOnce: whatever managers, clients and the disk do, transitions are legal, subjobs
// count once, epochs only grow, and the first end stays.
func TestJobsEndOnce(t *testing.T) {
	if err := flag.Set("rapid.steps", "150"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"beat": w.beats, "submit": w.submits, "answer": w.answers, "answer again": w.answers, "ask": w.asks, "disk": w.disk, "crash": w.crash,
			"advance": func(t *rapid.T) {
				w.world.Advance(time.Duration(rapid.IntRange(1, 6000).Draw(t, "ms")) * time.Millisecond)
			},
		})
		w.settle()
	})
}

// settle repairs everything; then every accepted job must end within its bound.
func (w *world) settle() {
	w.world.Held = false
	w.world.Complete(w.world.Pending(), nil)
	for range 150 {
		w.sequence++
		for _, id := range []node.ID{"m1", "m2", "m3"} {
			w.deliver(string(id), &message.ManagerHeartbeat{Datacenter: place(id), Sequence: w.sequence, CoresTotal: 8, CoresFree: 8, WorkerSum: 2})
		}
		for at, o := range w.sent {
			w.deliver(string(o.manager), subjobResult(o.dispatch.Job, taken(o, at), place(o.manager), message.JobCompleted, 10, ""))
		}
		w.world.Advance(time.Second)
	}
	//lint:orderfree any job that has not ended fails
	for id, s := range w.state {
		if !s.Terminal() {
			w.rt.Fatalf("job %v is still %v long after everything healed", id, s)
		}
	}
}
