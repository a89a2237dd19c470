package manager

import (
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func loadSorted(disk map[string][]byte, prefix string) []node.Record {
	var found []node.Record
	for _, k := range slices.Sorted(maps.Keys(disk)) {
		if strings.HasPrefix(k, prefix) {
			found = append(found, node.Record{Key: k, Value: disk[k]})
		}
	}
	return found
}

const beat = 1 // the models' only timer

// modelWorker runs shards until a cancellation. It lists its shards, stops by its own clock,
// keeps fences, and sends results to all managers.
type modelWorker struct {
	managers []node.Addr
	length   time.Duration // of a shard
	streams  map[node.StreamID]*modelLink
	runs     map[message.ShardID]*modelRun
	high     map[message.ShardID]message.Fence
	results  []*message.ShardResult
	log      *[]*modelRun // of all workers
	slow     bool         // shards last until a cancellation
	mute     bool         // it answers no dispatch
	full     bool         // it has no free core, whatever runs
}

type modelLink struct {
	addr     node.Addr
	stands   bool
	sequence uint64
	sent     map[uint64]node.Instant
	heard    node.Instant
}

// modelRun is one attempt that sends load.
type modelRun struct {
	worker     node.ID
	id         message.ShardID
	fence      message.Fence
	vus        uint64
	began, end node.Instant // end is zero while it runs
	until      node.Instant
}

func (w *modelWorker) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		w.streams, w.runs = map[node.StreamID]*modelLink{}, map[message.ShardID]*modelRun{}
		w.high, w.results = map[message.ShardID]message.Fence{}, nil
		for _, a := range w.managers {
			w.open(env, a)
		}
		env.SetTimer(node.Key(node.PartWorker, beat), time.Millisecond)
	case node.InputStreamOpened:
		if l := w.streams[in.Stream]; l != nil {
			l.stands, l.heard = true, env.Now()
			w.beat(env, in.Stream, l)
		}
	case node.InputStreamBroken:
		if l := w.streams[in.Stream]; l != nil {
			delete(w.streams, in.Stream)
			w.open(env, l.addr)
		}
	case node.InputTimer:
		w.tick(env)
	case node.InputMessage:
		w.receive(env, in)
	}
}

func (w *modelWorker) open(env node.Env, a node.Addr) {
	w.streams[env.Open(a)] = &modelLink{addr: a, sent: map[uint64]node.Instant{}, heard: env.Now()}
}

func (w *modelWorker) tick(env node.Env) {
	env.SetTimer(node.Key(node.PartWorker, beat), 250*time.Millisecond)
	for _, id := range slices.SortedFunc(maps.Keys(w.runs), func(a, b message.ShardID) int { return a.Compare(b) }) {
		r := w.runs[id]
		switch {
		case env.Now() >= r.until:
			w.stop(env, r)
		case !w.slow && env.Now().Sub(r.began) >= w.length:
			w.finish(env, r, message.WorkflowCompleted)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.streams)) {
		l := w.streams[id]
		if env.Now().Sub(l.heard) > 5*time.Second {
			env.Close(id)
			delete(w.streams, id)
			w.open(env, l.addr)
			continue
		}
		if l.stands && (l.sequence == 0 || env.Now().Sub(l.sent[l.sequence]) >= time.Second) {
			w.beat(env, id, l)
			for _, r := range w.results {
				env.Send(id, r)
			}
		}
	}
}

func (w *modelWorker) beat(env node.Env, id node.StreamID, l *modelLink) {
	l.sequence++
	l.sent[l.sequence] = env.Now()
	hb := &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: l.sequence, CoresTotal: 4, CoresFree: uint32(4 - len(w.runs))}
	if w.full {
		hb.CoresFree = 0
	}
	for _, s := range slices.SortedFunc(maps.Keys(w.runs), func(a, b message.ShardID) int { return a.Compare(b) }) {
		hb.Running = append(hb.Running, message.ShardRef{Shard: s, Fence: w.runs[s].fence})
	}
	for _, r := range w.results {
		hb.Running = append(hb.Running, message.ShardRef{Shard: r.Shard, Fence: r.Fence})
	}
	env.Send(id, hb)
}

func (w *modelWorker) receive(env node.Env, in *node.Input) {
	l := w.streams[in.Stream]
	if l == nil {
		return
	}
	l.heard = env.Now()
	switch m := in.Message.(type) {
	case *message.HeartbeatAck:
		for _, ref := range m.Shards {
			if r := w.runs[ref.Shard]; r != nil && r.fence == ref.Fence {
				r.until = max(r.until, l.sent[m.Sequence].Add(5*time.Second))
			}
		}
	case *message.ShardDispatch:
		if !w.mute {
			w.dispatched(env, in.Stream, m)
		}
	case *message.ShardCancel:
		if r := w.runs[m.Shard]; r != nil && !m.Fence.Less(r.fence) {
			w.finish(env, r, m.State)
			return
		}
		w.high[m.Shard] = higherOf(w.high[m.Shard], m.Fence)
		env.Send(in.Stream, &message.ShardResult{Shard: m.Shard, Fence: m.Fence, State: m.State})
	case *message.ShardResultAck:
		w.results = slices.DeleteFunc(w.results, func(r *message.ShardResult) bool { return r.Shard == m.Shard && r.Fence == m.Fence })
	}
}

func higherOf(a, b message.Fence) message.Fence {
	if a.Less(b) {
		return b
	}
	return a
}

func (w *modelWorker) dispatched(env node.Env, s node.StreamID, d *message.ShardDispatch) {
	r := w.runs[d.Shard]
	switch {
	case d.Fence.Less(w.high[d.Shard]) || d.Fence == w.high[d.Shard] && r == nil:
		env.Send(s, &message.ShardRefused{Shard: d.Shard, Fence: d.Fence, Code: message.CodeStaleFence, Current: w.high[d.Shard], CoresFree: 4})
	case r != nil && r.fence == d.Fence:
		env.Send(s, &message.ShardAccepted{Shard: d.Shard, Fence: d.Fence})
	case len(w.runs) >= 4:
		env.Send(s, &message.ShardRefused{Shard: d.Shard, Fence: d.Fence, Code: message.CodeNoCores})
	default:
		if r != nil {
			w.stop(env, r)
		}
		w.high[d.Shard] = d.Fence
		r = &modelRun{worker: env.Self().ID, id: d.Shard, fence: d.Fence, vus: d.VUs, began: env.Now(), until: env.Now().Add(4 * time.Second)}
		w.runs[d.Shard] = r
		*w.log = append(*w.log, r)
		env.Send(s, &message.ShardAccepted{Shard: d.Shard, Fence: d.Fence})
	}
}

func (w *modelWorker) stop(env node.Env, r *modelRun) {
	r.end = env.Now()
	delete(w.runs, r.id)
}

func (w *modelWorker) finish(env node.Env, r *modelRun, state message.WorkflowState) {
	w.stop(env, r)
	res := &message.ShardResult{Shard: r.id, Fence: r.fence, State: state, Stats: message.Stats{
		Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: r.vus, OK: r.vus}},
	}}
	w.results = append(w.results, res)
	for _, id := range slices.Sorted(maps.Keys(w.streams)) {
		if w.streams[id].stands {
			env.Send(id, res)
		}
	}
}

// modelGate owns jobs: it gives each subjob to a manager, follows refusals, renews what it
// owns, and accepts one end of each.
type modelGate struct {
	managers map[node.ID]node.StreamID
	addr     map[node.ID]node.Addr
	jobs     map[message.JobID]*modelJob
	mute     bool // it renews nothing
	hear     func(from node.ID, h *message.ManagerHeartbeat)
}

type modelJob struct {
	dispatch *message.JobDispatch
	at       node.ID // the manager that it asked
	holder   node.ID // the manager that lists the subjob
	fence    message.Fence
	accepted bool
	cancel   bool
	results  []*message.SubjobResult
	refused  []*message.JobRefused
	progress *message.JobProgress
}

func (g *modelGate) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		g.managers, g.addr = map[node.ID]node.StreamID{}, map[node.ID]node.Addr{}
		if g.jobs == nil {
			g.jobs = map[message.JobID]*modelJob{}
		}
		env.SetTimer(node.Key(node.PartGate, beat), 300*time.Millisecond)
	case node.InputStreamOpened:
		g.managers[in.From.ID], g.addr[in.From.ID] = in.Stream, in.From.Addr
	case node.InputStreamBroken:
		if g.managers[in.From.ID] == in.Stream {
			delete(g.managers, in.From.ID)
		}
	case node.InputTimer:
		env.SetTimer(node.Key(node.PartGate, beat), 300*time.Millisecond)
		g.ask(env)
	case node.InputMessage:
		g.receive(env, in)
	}
}

// ask repeats unanswered dispatches, at the next manager if one is down.
func (g *modelGate) ask(env node.Env) {
	ids := slices.Sorted(maps.Keys(g.managers))
	for _, id := range slices.SortedFunc(maps.Keys(g.jobs), func(a, b message.JobID) int { return a.Compare(b) }) {
		j := g.jobs[id]
		if len(j.results) > 0 || len(ids) == 0 {
			continue
		}
		if _, up := g.managers[j.at]; !up {
			j.at = ids[env.Rand(node.PurposePlacement).Int(len(ids))]
		}
		if !j.accepted {
			env.Send(g.managers[j.at], j.dispatch)
		} else if j.cancel {
			for _, m := range ids {
				env.Send(g.managers[m], &message.SubjobCancel{Job: id, Fence: j.dispatch.Fence, State: message.JobCancelled, Reason: "asked"})
			}
		}
	}
}

func (g *modelGate) receive(env node.Env, in *node.Input) {
	switch m := in.Message.(type) {
	case *message.ManagerHeartbeat:
		if g.hear != nil {
			g.hear(in.From.ID, m)
		}
		ack := &message.HeartbeatAck{Sequence: m.Sequence}
		for _, ref := range m.Subjobs {
			if j := g.jobs[ref.Job]; j != nil && !g.mute {
				j.holder, j.fence = in.From.ID, ref.Fence
				ack.Subjobs = append(ack.Subjobs, ref)
			}
		}
		env.Send(in.Stream, ack)
	case *message.JobAccepted:
		if j := g.jobs[m.Job]; j != nil && m.Fence.JobEpoch == j.dispatch.Fence.JobEpoch {
			j.accepted, j.holder, j.fence = true, in.From.ID, m.Fence
		}
	case *message.JobRefused:
		j := g.jobs[m.Job]
		if j == nil {
			return
		}
		j.refused = append(j.refused, m)
		j.at = ""
		for _, id := range slices.Sorted(maps.Keys(g.addr)) {
			if m.Holder == string(g.addr[id]) {
				j.at = id
			}
		}
	case *message.JobProgress:
		if j := g.jobs[m.Job]; j != nil {
			j.progress = m
		}
	case *message.SubjobResult:
		if j := g.jobs[m.Job]; j != nil {
			j.results = append(j.results, m)
		}
		env.Send(in.Stream, &message.SubjobResultAck{Job: m.Job, Fence: m.Fence})
	}
}
