package worker

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// model is a worker as a checker sees it: only by its events.
type model struct {
	t       *rapid.T
	world   *nodetest.Env
	owner   map[int]string // of each core
	acted   map[message.ShardID]message.Fence
	started map[string]bool
	results map[string]message.WorkflowState  // first reported end of each shard and fence
	stored  map[message.ShardID]message.Fence // the highest on disk
	runs    map[message.ShardID]int           // number of attempts with executors
	peer    node.Peer
	beats   map[node.StreamID][]node.Instant // when the worker sent each heartbeat of a stream
	heard   node.Instant                     // when it sent the newest answered one
}

const renewal = 5 * time.Second

func newModel(t *rapid.T) *model {
	c := small()
	c.RenewalTimeout, c.Silence = renewal, time.Hour
	m := &model{
		t: t, world: world(c), beats: map[node.StreamID][]node.Instant{},
		owner: map[int]string{}, acted: map[message.ShardID]message.Fence{}, started: map[string]bool{},
		results: map[string]message.WorkflowState{}, stored: map[message.ShardID]message.Fence{}, runs: map[message.ShardID]int{},
		peer: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
	}
	m.world.Discard = true
	m.world.WatchEvent = m.onEvent
	m.world.WatchSend = m.onSend
	m.world.Start()
	m.connect()
	return m
}

func (m *model) onEvent(e node.Event) {
	switch e := e.(type) {
	case event.Acted:
		if e.Fence.Less(m.acted[e.Shard]) {
			m.t.Fatalf("acted on %v of %v after %v", e.Fence, e.Shard, m.acted[e.Shard])
		}
		m.acted[e.Shard] = e.Fence
	case event.ShardRenewed:
		if limit := m.heard.Add(renewal); e.Until > limit || e.Until <= m.world.Now() {
			m.t.Fatalf("%v %v may run until %v, the last heartbeat that was answered was sent at %v", e.Shard, e.Fence, e.Until, m.heard)
		}
	case event.ShardStarted:
		run := fmt.Sprint(e.Shard, e.Fence)
		if m.started[run] {
			m.t.Fatalf("%s was started twice", run)
		}
		m.started[run] = true
		m.runs[e.Shard]++
		for _, c := range e.Cores {
			if m.owner[c] != "" || c < 0 || c >= e.Total {
				m.t.Fatalf("core %d of %d goes to %s, but %q holds it", c, e.Total, run, m.owner[c])
			}
			m.owner[c] = run
		}
		//lint:orderfree any one that is found fails the test
		for c, who := range m.owner {
			if who != run && len(who) > 0 && m.sameShard(who, e.Shard) {
				m.t.Fatalf("%s starts while core %d still runs %s", run, c, who)
			}
		}
	case event.FenceStored:
		m.stored[e.Shard] = maxFence(m.stored[e.Shard], e.Fence)
	case event.CoreFreed:
		if run := fmt.Sprint(e.Shard, e.Fence); m.owner[e.Core] != run {
			m.t.Fatalf("%s frees core %d, but %q holds it", run, e.Core, m.owner[e.Core])
		}
		delete(m.owner, e.Core)
	case event.ShardEnded:
		m.runs[e.Shard]--
		for _, c := range e.Cores {
			if run := fmt.Sprint(e.Shard, e.Fence); m.owner[c] != run {
				m.t.Fatalf("%s frees core %d, but %q holds it", run, c, m.owner[c])
			}
			delete(m.owner, c)
		}
	}
}

func (m *model) sameShard(run string, s message.ShardID) bool {
	p := s.String() + " "
	return len(run) > len(p) && run[:len(p)] == p
}

func (m *model) onSend(s node.StreamID, sent node.Message) {
	if hb, ok := sent.(*message.WorkerHeartbeat); ok {
		m.beats[s] = append(m.beats[s], m.world.Now())
		if int(hb.Sequence) != len(m.beats[s]) {
			m.t.Fatalf("heartbeat %d after %d", hb.Sequence, len(m.beats[s])-1)
		}
		m.lists(hb)
	}
	r, ok := sent.(*message.ShardResult)
	if !ok || r.Error == "it does not run here" {
		return
	}
	run := fmt.Sprint(r.Shard, r.Fence)
	if old, told := m.results[run]; told && old != r.State {
		m.t.Fatalf("%s ended %v, and now %v", run, old, r.State)
	}
	m.results[run] = r.State
	//lint:orderfree any one that is found fails the test
	for c, who := range m.owner {
		if who == run {
			m.t.Fatalf("%s has reported while it holds core %d", run, c)
		}
	}
}

// lists asserts that a heartbeat names each running shard once, under the highest fence on
// disk. Managers take an unlisted shard as stopped, and dispatch it again if they know a higher
// fence. During the write of a higher fence the running attempt may appear under its own: the
// manager waits for the answer to the higher one.
func (m *model) lists(hb *message.WorkerHeartbeat) {
	named := map[message.ShardID]message.Fence{}
	for _, r := range hb.Running {
		if _, twice := named[r.Shard]; twice {
			m.t.Fatalf("%v is listed twice: %v", r.Shard, hb.Running)
		}
		named[r.Shard] = r.Fence
	}
	w := m.world.Machine().(*Machine)
	//lint:orderfree any one that is found fails the test
	for id, n := range m.runs {
		if s := w.shards[id]; s != nil && s.storing != nil && s.current != nil && named[id] == s.current.fence {
			continue
		}
		if n > 0 && named[id] != m.stored[id] {
			m.t.Fatalf("%v runs, its fence on disk is %v, and it is listed under %v", id, m.stored[id], named[id])
		}
	}
}

func (m *model) connect() {
	for _, s := range m.world.OpeningTo("m1:1") {
		m.world.Opened(s, m.peer)
	}
}

func (m *model) receive(msg node.Message) {
	if up := m.world.StreamsOf("m1"); len(up) > 0 {
		m.world.Receive(up[0], msg)
	}
}

// answer acknowledges some heartbeat of the stream, late or repeated, and names some shards.
func (m *model) answer(t *rapid.T) {
	up := m.world.StreamsOf("m1")
	if len(up) == 0 || len(m.beats[up[0]]) == 0 {
		return
	}
	sent := m.beats[up[0]]
	at := max(0, len(sent)-1-rapid.IntRange(0, 3).Draw(t, "back"))
	m.heard = max(m.heard, sent[at])
	ack := &message.HeartbeatAck{Sequence: uint64(at + 1)}
	for range rapid.IntRange(0, 3).Draw(t, "named") {
		ack.Shards = append(ack.Shards, message.ShardRef{Shard: m.shard(), Fence: m.fence()})
	}
	m.world.Receive(up[0], ack)
}

// quiet asserts that nothing runs past its deadline, except shards that have sent their result.
func (m *model) quiet() {
	w := m.world.Machine().(*Machine)
	for _, x := range w.ordered {
		if x.phase == running && m.world.Now() >= x.until && !x.told() {
			m.t.Fatalf("%v %v runs at %v, its time was over at %v", x.shard.id, x.fence, m.world.Now(), x.until)
		}
	}
}

func (m *model) shard() message.ShardID {
	return message.ShardID{Job: message.JobID{1}, Ordinal: rapid.Uint32Range(0, 2).Draw(m.t, "ordinal")}
}

func (m *model) fence() message.Fence {
	n := rapid.Uint64Range(1, 2)
	return message.Fence{JobEpoch: 1, SubjobEpoch: n.Draw(m.t, "manager"), Attempt: rapid.Uint64Range(1, 5).Draw(m.t, "attempt")}
}

func (m *model) dispatch(t *rapid.T) {
	m.receive(&message.ShardDispatch{
		Shard: m.shard(), Fence: m.fence(), Workflow: "w", Program: message.Program{Main: "f"}, PlanDigest: 1,
		VUs: rapid.Uint64Range(1, 9).Draw(t, "vus"), Cores: rapid.Uint32Range(1, 4).Draw(t, "cores"),
		RunTimeout: time.Duration(rapid.IntRange(0, 9).Draw(t, "timeout")) * time.Second,
	})
}

func (m *model) exec(t *rapid.T, do func(id node.ExecID)) {
	if ids := m.world.Execs(); len(ids) > 0 {
		do(rapid.SampledFrom(ids).Draw(t, "run"))
	}
}

func (m *model) restart() {
	m.world.Crash()
	clear(m.owner)
	clear(m.runs)
	m.world.Held, m.world.Failure = false, nil
	m.world.Start()
	m.connect()
}

// settles asserts that, once all executors have ended and the disk writes, all cores are free
// and nothing is under way.
func (m *model) settles() {
	m.world.Held = false
	for m.world.Pending() > 0 {
		m.world.Complete(1, nil)
	}
	for range 10 {
		for _, id := range m.world.Execs() {
			m.world.ExecGone(id, "killed", "")
		}
	}
	w := m.world.Machine().(*Machine)
	if w.cores.Free() != w.cores.Total() || len(w.active) != 0 || len(w.runs) != 0 || len(w.disk.writes) != 0 || len(m.owner) != 0 {
		m.t.Fatalf("left: %d of %d cores free, %d executions, %d runs, %d writes, owners %v",
			w.cores.Free(), w.cores.Total(), len(w.active), len(w.runs), len(w.disk.writes), m.owner)
	}
}

// rests compares the ledgers with a naive count.
func (m *model) rests() {
	w := m.world.Machine().(*Machine)
	w.Rests(func(what string, n, _ int) {
		want := n
		switch what {
		case "worker/executors of executions":
			want = len(w.runs) // except those that are gone
			if n < want {
				m.t.Fatalf("%s is %d, and %d executors run", what, n, want)
			}
		case "worker/cores that are taken":
			if want = len(m.owner); n < want {
				m.t.Fatalf("%s is %d, and %d are owned: %v", what, n, want, m.owner)
			}
		case "worker/cores of executions":
			if n < len(m.owner) {
				m.t.Fatalf("%s is %d, and %d are owned: %v", what, n, len(m.owner), m.owner)
			}
		}
	})
}
