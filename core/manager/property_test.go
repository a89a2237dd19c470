package manager

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// model is a manager as a checker sees it, between a gate and workers that answer at random
// about anything that they ever got.
type model struct {
	t       *rapid.T
	world   *nodetest.Env
	peers   map[node.ID]node.Peer
	sent    []dispatched
	stops   []stopped
	high    map[message.ShardID]message.Fence // of dispatches
	where   map[string]node.ID                // of each shard and fence
	counted map[string]counted
	acted   map[message.JobID]message.Fence
	ended   map[string]message.JobState
	done    map[string]bool                  // workflows that are COMPLETED
	over    map[string]message.WorkflowState // of each workflow of each subjob
	results map[string]uint64
	unacked map[message.JobID]message.Fence
	beats   uint64
}

// counted is the published result of a shard; a restart publishes it again.
type counted struct {
	incarnation uint64
	event       event.ShardCounted
}

type dispatched struct {
	worker  node.ID
	message *message.ShardDispatch
}

type stopped struct {
	worker  node.ID
	message *message.ShardCancel
}

func newModel(t *rapid.T) *model {
	c := small()
	c.DispatchTimeout = 20 * time.Second
	m := &model{
		t: t, world: world(c), peers: map[node.ID]node.Peer{},
		high: map[message.ShardID]message.Fence{}, where: map[string]node.ID{}, counted: map[string]counted{},
		acted: map[message.JobID]message.Fence{}, ended: map[string]message.JobState{}, done: map[string]bool{},
		over: map[string]message.WorkflowState{}, results: map[string]uint64{}, unacked: map[message.JobID]message.Fence{},
	}
	//lint:orderfree each entry goes to its own key
	for id, role := range map[node.ID]node.Role{"g1": node.RoleGate, "w1": node.RoleWorker, "w2": node.RoleWorker} {
		m.peers[id] = node.Peer{ID: id, Incarnation: 1, Role: role, Addr: node.Addr(id + ":1")}
	}
	m.world.Discard = true
	m.world.WatchEvent = m.onEvent
	m.world.WatchSend = m.onSend
	m.world.Start()
	return m
}

func (m *model) onEvent(e node.Event) {
	switch e := e.(type) {
	case event.ShardDispatched:
		if !m.high[e.Shard].Less(e.Fence) {
			m.t.Fatalf("%v is dispatched under %v after %v", e.Shard, e.Fence, m.high[e.Shard])
		}
		m.high[e.Shard] = e.Fence
		subjob := e.Fence
		subjob.Attempt = 0
		if e.Shard.Workflow == 1 && !m.done[fmt.Sprint(e.Shard.Job, subjob, 0)] {
			m.t.Fatalf("%v is dispatched before what it depends on is COMPLETED", e.Shard)
		}
	case event.ShardCounted:
		once := fmt.Sprint(e.Shard, e.Subjob)
		first, ok := m.counted[once]
		if ok && (first.event != e || first.incarnation == m.world.Self().Incarnation) {
			m.t.Fatalf("%s is counted twice", once)
		}
		m.counted[once] = counted{m.world.Self().Incarnation, e}
	case event.WorkflowChanged:
		flow := fmt.Sprint(e.Job, e.Fence, e.Workflow)
		if m.over[flow].Terminal() {
			m.t.Fatalf("workflow %s had ended %v and became %v", flow, m.over[flow], e.To)
		}
		m.over[flow] = e.To
		if e.To == message.WorkflowCompleted {
			m.done[fmt.Sprint(e.Job, e.Fence, e.Workflow)] = true
		}
	case event.Acted:
		if e.Fence.Less(m.acted[e.Shard.Job]) {
			m.t.Fatalf("acted on %v of %v after %v", e.Fence, e.Shard.Job, m.acted[e.Shard.Job])
		}
		m.acted[e.Shard.Job] = e.Fence
	case event.SubjobChanged:
		run := fmt.Sprint(e.Job, e.Fence)
		if old, over := m.ended[run]; over {
			m.t.Fatalf("%s ended %v, and now is %v", run, old, e.To)
		}
		if e.To.Terminal() {
			m.ended[run] = e.To
		}
	}
}

func (m *model) onSend(s node.StreamID, sent node.Message) {
	switch sent := sent.(type) {
	case *message.ShardDispatch:
		run := fmt.Sprint(sent.Shard, sent.Fence)
		for _, id := range []node.ID{"w1", "w2"} {
			for _, up := range m.world.StreamsOf(id) {
				if up != s {
					continue
				}
				if other := m.where[run]; other != "" && other != id {
					m.t.Fatalf("%s was sent to %s and to %s", run, other, id)
				}
				m.where[run] = id
				m.sent = append(m.sent, dispatched{id, sent})
			}
		}
	case *message.ShardCancel:
		for _, id := range []node.ID{"w1", "w2"} {
			for _, up := range m.world.StreamsOf(id) {
				if up == s {
					m.stops = append(m.stops, stopped{id, sent})
				}
			}
		}
	case *message.JobProgress:
		m.addsUp(sent.Job, &sent.Subjob)
	case *message.SubjobResult:
		run := fmt.Sprint(sent.Job, sent.Fence)
		if old, told := m.results[run]; told && old != sent.Digest() {
			m.t.Fatalf("%s is told with two different results", run)
		}
		m.results[run] = sent.Digest()
		m.addsUp(sent.Job, &sent.Subjob)
		m.unacked[sent.Job] = sent.Fence
	}
}

func (m *model) addsUp(job message.JobID, d *message.DatacenterResult) {
	if diff := unequal(d); diff != "" {
		m.t.Fatalf("subjob %v, %v: its figures, and what its workers tell (-part +workers):\n%s", job, d.State, diff)
	}
}

func (m *model) up(id node.ID) node.StreamID {
	if id == "g1" {
		for _, s := range m.world.OpeningTo("g1:1") {
			m.world.Opened(s, m.peers[id])
		}
	}
	if all := m.world.StreamsOf(id); len(all) > 0 {
		return all[len(all)-1]
	}
	if id == "g1" {
		return 0
	}
	return m.world.Accept(m.peers[id])
}

func (m *model) receive(id node.ID, msg node.Message) {
	if s := m.up(id); s != 0 {
		m.world.Receive(s, msg)
	}
}

func (m *model) beat(id node.ID, running []message.ShardRef) {
	m.beats++
	m.receive(id, &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: m.beats, CoresTotal: 4, CoresFree: 4, Running: running})
}

func (m *model) job(t *rapid.T) (message.JobID, message.Fence) {
	return message.JobID{byte(rapid.IntRange(1, 2).Draw(t, "job"))}, message.Fence{JobEpoch: 1, SubjobEpoch: rapid.Uint64Range(1, 3).Draw(t, "manager")}
}

func (m *model) dispatch(t *rapid.T) {
	id, fence := m.job(t)
	m.receive("g1", &message.JobDispatch{
		Job: id, Fence: fence, Program: message.Program{Main: "f"}, RunTimeout: 60 * time.Second,
		Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{
			{Name: "a", Test: true, VUs: 7, Timeout: time.Second, Cores: rapid.Uint32Range(0, 6).Draw(t, "cores"), Steps: home()},
			{Name: "b", Test: true, VUs: 2, Timeout: time.Second, Steps: home(), Depends: []uint32{0}, Layer: 1},
		}},
	})
}

// answer says something about one of the former dispatches.
func (m *model) answer(t *rapid.T, do func(d dispatched)) {
	if len(m.sent) > 0 {
		recent := min(len(m.sent), 6)
		do(m.sent[len(m.sent)-1-rapid.IntRange(0, recent-1).Draw(t, "which")])
	}
}

func (m *model) actions() map[string]func(*rapid.T) {
	worker := rapid.SampledFrom([]node.ID{"w1", "w2"})
	return map[string]func(*rapid.T){
		"dispatch": m.dispatch,
		"cancel": func(t *rapid.T) {
			id, fence := m.job(t)
			m.receive("g1", &message.SubjobCancel{Job: id, Fence: fence, State: rapid.SampledFrom([]message.JobState{message.JobCancelled, message.JobTimedOut}).Draw(t, "state")})
		},
		"idle": func(t *rapid.T) { m.beat(worker.Draw(t, "worker"), nil) },
		"busy": func(t *rapid.T) {
			m.answer(t, func(d dispatched) {
				m.beat(d.worker, []message.ShardRef{{Shard: d.message.Shard, Fence: d.message.Fence}})
			})
		},
		"accept": func(t *rapid.T) {
			m.answer(t, func(d dispatched) {
				m.receive(d.worker, &message.ShardAccepted{Shard: d.message.Shard, Fence: d.message.Fence})
			})
		},
		"refuse": func(t *rapid.T) {
			code := rapid.SampledFrom([]message.Code{message.CodeNoCores, message.CodeStaleFence, message.CodeDraining, message.CodeStoreFull, message.CodeBadPlan}).Draw(t, "code")
			m.answer(t, func(d dispatched) {
				m.receive(d.worker, &message.ShardRefused{Shard: d.message.Shard, Fence: d.message.Fence, Code: code, Current: d.message.Fence})
			})
		},
		"progress": func(t *rapid.T) {
			n := rapid.Uint64Range(1, 9).Draw(t, "n")
			m.answer(t, func(d dispatched) {
				m.receive(d.worker, &message.ShardProgress{Shard: d.message.Shard, Fence: d.message.Fence, Sequence: n, Stats: requests(n)})
			})
		},
		"result": m.result, "result2": m.result,
		"acknowledge": func(*rapid.T) { m.acknowledge() },
		"reincarnate": func(t *rapid.T) {
			id := worker.Draw(t, "worker")
			p := m.peers[id]
			p.Incarnation++
			m.peers[id] = p
			if s := m.up(id); s != 0 {
				m.world.Break(s, "reset")
			}
			m.beat(id, nil)
		},
		"advance": func(t *rapid.T) {
			m.world.Advance(time.Duration(rapid.IntRange(0, 7000).Draw(t, "ms")) * time.Millisecond)
		},
		"hold":     func(*rapid.T) { m.world.Held = true },
		"complete": func(*rapid.T) { m.world.Complete(1, nil) },
		"fail":     func(*rapid.T) { m.world.Complete(1, errors.New("full")) },
		"release":  func(*rapid.T) { m.release() },
		"restart": func(*rapid.T) {
			m.world.Crash()
			m.world.Held = false
			m.world.Start()
		},
		"": func(*rapid.T) { m.world.Take() },
	}
}

func (m *model) result(t *rapid.T) {
	state := rapid.SampledFrom([]message.WorkflowState{message.WorkflowCompleted, message.WorkflowCompleted, message.WorkflowFailed, message.WorkflowCancelled}).Draw(t, "state")
	m.answer(t, func(d dispatched) {
		m.receive(d.worker, &message.ShardResult{Shard: d.message.Shard, Fence: d.message.Fence, State: state, Stats: requests(10)})
	})
}

// requests returns n requests, half of which ended.
func requests(n uint64) message.Stats {
	return message.Stats{Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: n, OK: n / 2}}}
}

func (m *model) acknowledge() {
	for _, job := range []message.JobID{{1}, {2}} {
		if fence, ok := m.unacked[job]; ok {
			delete(m.unacked, job)
			m.receive("g1", &message.SubjobResultAck{Job: job, Fence: fence})
		}
	}
}

func (m *model) release() {
	m.world.Held = false
	for m.world.Pending() > 0 {
		m.world.Complete(1, nil)
	}
}

func TestAttemptsRiseAndResultsCountOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(m.actions())
		m.ends()
	})
}

// ends: once the disk writes and workers obey, every subjob ends and the gate learns of it.
func (m *model) ends() {
	m.release()
	for range 120 {
		m.up("g1")
		todo := m.sent
		m.sent = nil
		m.beat("w1", nil)
		m.beat("w2", nil)
		for _, d := range todo {
			m.receive(d.worker, &message.ShardResult{Shard: d.message.Shard, Fence: d.message.Fence, State: message.WorkflowCompleted})
		}
		stops := m.stops
		m.stops = nil
		for _, c := range stops {
			m.receive(c.worker, &message.ShardResult{Shard: c.message.Shard, Fence: c.message.Fence, State: c.message.State})
		}
		m.acknowledge()
		if m.world.Machine().(*answered).unfinished() == 0 {
			m.world.Take()
			return
		}
		m.world.Advance(time.Second)
	}
	w := m.world.Machine().(*answered)
	for _, p := range w.order {
		m.t.Errorf("subjob %v %v is %v, stop %+v, stage %v", p.Job, p.Fence, p.State, p.Stop.Durable, p.Stage)
	}
	m.t.Fatalf("%d subjobs never ended", w.unfinished())
}
