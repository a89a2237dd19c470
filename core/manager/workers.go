package manager

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// workersTold bounds the workers with their own share in a subjob's status, at some 250 bytes
// each. People read no more, and each gate and watcher gets the status twice a second.
const workersTold = 64

// lateAt is the quantile that describes how late a worker's starts were.
const lateAt = 990_000

// layer is the part of a worker that shards of one layer use at the same time.
type layer struct {
	cores, vus uint64 // of running shards
	elapsed    time.Duration
	ended      struct{ cores, vus uint64 }
}

// tally is one worker's share during the summation.
type tally struct {
	share   message.WorkerShare
	layers  map[uint32]layer
	live    bool // it has a shard
	running bool // the shard runs, according to the worker
	lags    []message.Histogram
}

// survey describes a subjob as it is at one instant. It adds up the figures of many shards in steps, on a copy of
// the subjob: what happens between two steps belongs to the next survey.
type survey struct {
	p      *subjob.Subjob
	at     node.Instant
	frozen bool
	sum    *subjob.Sum               // of the next workflow; nil: it has not begun
	flows  []message.WorkflowResult  // those whose figures are added up
	faults []string                  // why the figures of some are not
	next   struct{ flow, shard int } // whose worker's share is next
	shares map[node.ID]*tally
}

// shareBytes is the room that a shard's part in its worker's share takes: to add it takes as long as figures of
// that size.
const shareBytes = 512

func surveyOf(p *subjob.Subjob, now node.Instant) *survey {
	return &survey{p: p, at: now, shares: map[node.ID]*tally{}}
}

// add adds figures that fill so many bytes. It returns what is left of the room: nothing, while it is not done.
func (s *survey) add(room int) (left int) {
	for len(s.flows) < len(s.p.Workflows) {
		f := s.p.Workflows[len(s.flows)]
		if s.sum == nil {
			s.sum = &subjob.Sum{}
		}
		if !f.State.Terminal() {
			if room = s.sum.Add(f, room); !s.sum.Done(f) {
				s.freeze()
				return 0
			}
		}
		s.flows = append(s.flows, s.describe(f))
		s.sum = nil
	}
	for ; s.next.flow < len(s.p.Workflows); s.next.flow, s.next.shard = s.next.flow+1, 0 {
		f := s.p.Workflows[s.next.flow]
		for ; s.next.shard < len(f.Shards); s.next.shard++ {
			if room <= 0 {
				s.freeze()
				return 0
			}
			s.share(f, f.Shards[s.next.shard])
			room -= shareBytes
		}
	}
	return max(1, room)
}

// freeze keeps the subjob as it is now: this survey takes another step.
func (s *survey) freeze() {
	if !s.frozen {
		s.p, s.frozen = s.p.Frozen(), true
	}
}

// describe is a workflow with the sum of its figures: of results where there are some, otherwise of the last
// progress of the current attempt.
func (s *survey) describe(f *subjob.Workflow) message.WorkflowResult {
	w := message.WorkflowResult{Name: f.Plan.Name, State: f.State, Error: f.Failure, VUs: f.Plan.VUs, Duration: f.Duration(s.at), Burned: f.Burned, Began: f.Began()}
	if f.State.Terminal() {
		w.Stats = f.Stats
	} else if sum, err := s.sum.Stats(); err != nil {
		s.faults = append(s.faults, err.Error())
	} else {
		w.Stats = sum
	}
	if !f.State.Terminal() {
		w.Error = cmp.Or(w.Error, f.Waits)
	}
	for _, x := range f.Shards {
		w.Cores += x.Cores
		if x.Tenancy == message.TenancyJob {
			w.Shared += x.Cores
		}
		for _, l := range x.Lost {
			w.Lost = append(w.Lost, l.LostAttempt)
		}
	}
	return w
}

// share adds a shard to what its workers do for the subjob. Their counts add up to those of the workflows.
func (s *survey) share(f *subjob.Workflow, x *subjob.Shard) {
	told := len(s.flows[f.Index].Stats.Steps) > 0
	for _, l := range x.Lost {
		s.of(node.ID(l.Worker)).lost(l, f.Plan.Layer, told)
	}
	if x.Losing != nil {
		s.of(node.ID(x.Losing.Worker)).lost(x.Losing, f.Plan.Layer, told)
	}
	if x.Result != nil || x.Live() {
		s.of(x.Worker).add(x, told)
	}
}

func (s *survey) of(id node.ID) *tally {
	t := s.shares[id]
	if t == nil {
		t = &tally{share: message.WorkerShare{Node: string(id)}, layers: map[uint32]layer{}}
		s.shares[id] = t
	}
	return t
}

// workers says what each worker does for the subjob.
func (s *survey) workers(known *roster.Roster) []message.WorkerShare {
	list := make([]*tally, 0, len(s.shares))
	for _, id := range slices.Sorted(maps.Keys(s.shares)) {
		t := s.shares[id]
		t.settle(known.Of(id))
		list = append(list, t)
	}
	return fewer(list)
}

// add adds a shard; it adds the counts only if the workflow's result has them.
func (t *tally) add(s *subjob.Shard, told bool) {
	f, of := s.Figures(), s.Workflow.Plan.Layer
	l := t.layers[of]
	if s.Result != nil {
		l.ended.cores, l.ended.vus = l.ended.cores+uint64(s.Cores), l.ended.vus+s.VUs
	} else {
		t.live, t.running = true, t.running || s.State == message.WorkflowRunning
		l.cores, l.vus = l.cores+uint64(s.Cores), l.vus+s.VUs
	}
	if f != nil && told {
		l.elapsed = max(l.elapsed, f.Elapsed-f.Gap)
		t.lags = append(t.lags, f.Generator.Lag)
		measure(&t.share, f)
	}
	t.layers[of] = l
}

// lost adds an attempt that was given up, with what counts of it.
func (t *tally) lost(l *subjob.Lost, of uint32, told bool) {
	t.share.Lost++
	if l.Report != nil && told {
		x := t.layers[of]
		x.elapsed = max(x.elapsed, l.Until-l.From)
		t.layers[of] = x
		measure(&t.share, &l.Report.Stats)
	}
}

// measure adds the figures of a shard to a share.
func measure(w *message.WorkerShare, f *message.Stats) {
	w.Active += f.Active
	w.BusyMax, w.Saturated = max(w.BusyMax, f.Generator.BusyMax), w.Saturated || f.Generator.Saturated
	for i := range f.Steps {
		if s := &f.Steps[i]; s.Kind.Measured() {
			join(w, &message.WorkerShare{
				Started: s.Started, Sent: s.Sent, OK: s.OK, Failed: s.Failed, TimedOut: s.TimedOut, Cancelled: s.Cancelled,
				Dropped: s.Dropped, Skipped: s.Skipped, BytesIn: s.BytesIn, BytesOut: s.BytesOut,
			})
		}
	}
}

// join adds the counts of one share to another.
func join(to, from *message.WorkerShare) {
	to.Started += from.Started
	to.Sent += from.Sent
	to.OK += from.OK
	to.Failed += from.Failed
	to.TimedOut += from.TimedOut
	to.Cancelled += from.Cancelled
	to.Dropped += from.Dropped
	to.Skipped += from.Skipped
	to.BytesIn += from.BytesIn
	to.BytesOut += from.BytesOut
}

// settle adds what the manager knows about the worker. Its cores and users are the current ones
// while it has a shard, otherwise those of its largest layer.
func (t *tally) settle(w *roster.Worker) {
	out := &t.share
	out.State = t.state(w)
	if w != nil {
		out.CoresTotal = w.Total
	}
	var cores uint64
	//lint:orderfree maxima, and a sum
	for _, l := range t.layers {
		if !t.live {
			l.cores, l.vus = l.ended.cores, l.ended.vus
		}
		cores, out.VUs = max(cores, l.cores), max(out.VUs, l.vus)
		out.Elapsed += l.elapsed
	}
	out.Cores = uint32(min(cores, plan.CoresMax))
}

func (t *tally) state(w *roster.Worker) message.WorkerState {
	switch {
	case !t.live && len(t.layers) > 0:
		return message.WorkerDone
	case !t.live:
		return message.WorkerLost
	case !w.Stands():
		return message.WorkerAway
	case w.Suspect:
		return message.WorkerSuspect
	case w.Draining:
		return message.WorkerDraining
	case t.running:
		return message.WorkerRunning
	}
	return message.WorkerAssigned
}

// fewer keeps workersTold of the shares in their order, those in trouble first. One further
// share sums up the others.
func fewer(all []*tally) []message.WorkerShare {
	room := workersTold
	keep := make([]bool, len(all))
	for _, worse := range []bool{true, false} {
		for i, t := range all {
			if room > 0 && !keep[i] && troubled(&t.share) == worse {
				keep[i] = true
				room--
			}
		}
	}
	var out []message.WorkerShare
	var rest message.WorkerShare
	for i, t := range all {
		if keep[i] {
			t.share.Late = t.late()
			out = append(out, t.share)
		} else {
			merge(&rest, &t.share)
		}
	}
	if rest.Others > 0 {
		out = append(out, rest)
	}
	return out
}

// late is computed only for workers with their own share: it takes as long as all the rest.
func (t *tally) late() (most time.Duration) {
	for _, lag := range t.lags {
		if late, err := stats.Quantile(lag, lateAt); err == nil {
			most = max(most, time.Duration(late))
		}
	}
	return most
}

func troubled(w *message.WorkerShare) bool {
	switch w.State {
	case message.WorkerAssigned, message.WorkerRunning, message.WorkerDone:
		return w.Saturated || w.Lost > 0
	}
	return true
}

// merge adds a worker to the sum of those without their own share. Its state is that of a
// running one, if there is any, and its health is the worst.
func merge(rest, w *message.WorkerShare) {
	if rest.State == message.WorkerNone || w.State < rest.State {
		rest.State = w.State
	}
	rest.Others++
	rest.CoresTotal, rest.Cores = rest.CoresTotal+w.CoresTotal, rest.Cores+w.Cores
	rest.VUs, rest.Active, rest.Lost = rest.VUs+w.VUs, rest.Active+w.Active, rest.Lost+w.Lost
	rest.Elapsed = max(rest.Elapsed, w.Elapsed)
	rest.BusyMax, rest.Saturated = max(rest.BusyMax, w.BusyMax), rest.Saturated || w.Saturated
	join(rest, w)
}

// snapshot describes the state of a subjob, at once.
func (m *workflows) snapshot(env node.Env, p *subjob.Subjob) message.DatacenterResult {
	s := surveyOf(p, env.Now())
	s.add(math.MaxInt)
	return s.told(env, m.config.Datacenter, m.roster)
}

// told is what it says once it is done.
func (s *survey) told(env node.Env, datacenter string, known *roster.Roster) message.DatacenterResult {
	for _, why := range s.faults {
		env.Emit(event.Ignored{Peer: env.Self().ID, Message: "ShardProgress", Why: why})
	}
	return message.DatacenterResult{
		Name: datacenter, State: s.p.State, Error: s.p.Why, Duration: s.at.Sub(s.p.Accepted), Workflows: s.flows, Workers: s.workers(known),
	}
}

// sumBytes is how many bytes of figures a step adds up: some 2 ms of a processor. All of a job on 10,000 workers
// would take it longer than a heartbeat may wait.
const sumBytes = 2 << 20

// sums are what adds up figures in steps, the first one first.
type sums struct {
	ends    []*subjob.Workflow // whose shards have ended
	tellers []*teller
	waits   bool // for the timer of the next step
}

// teller is a report of a subjob to its gate.
type teller struct {
	p      *subjob.Subjob
	survey *survey
}

// addLater sets the timer of the next step, if there is one.
func (m *holdings) addLater(env node.Env) {
	if !m.sums.waits && len(m.sums.ends)+len(m.sums.tellers) > 0 {
		m.sums.waits = true
		env.SetTimer(node.Key(node.PartManager, node.ManagerSum), sumPause)
	}
}

// sumPause is between two steps: what has come meanwhile is handled first.
const sumPause = time.Millisecond
