package manager

import (
	"cmp"
	"maps"
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

// workerShares says what each worker does for a subjob, whose workflows appear as given. The
// shares' counts add up to those of the workflows.
func (m *workflows) workerShares(p *subjob.Subjob, flows []message.WorkflowResult) []message.WorkerShare {
	all := map[node.ID]*tally{}
	of := func(id node.ID) *tally {
		if all[id] == nil {
			all[id] = &tally{share: message.WorkerShare{Node: string(id)}, layers: map[uint32]layer{}}
		}
		return all[id]
	}
	for i, f := range p.Workflows {
		for _, s := range f.Shards {
			for _, l := range s.Lost {
				of(node.ID(l.Worker)).lost(l, f.Plan.Layer, len(flows[i].Stats.Steps) > 0)
			}
			if s.Losing != nil {
				of(node.ID(s.Losing.Worker)).lost(s.Losing, f.Plan.Layer, len(flows[i].Stats.Steps) > 0)
			}
			if s.Result == nil && !s.Live() {
				continue
			}
			of(s.Worker).add(s, len(flows[i].Stats.Steps) > 0)
		}
	}
	list := make([]*tally, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		t := all[id]
		t.settle(m.roster.Of(id))
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

// snapshot describes the state of a subjob: results where there are some, otherwise the last
// progress of the current attempt.
func (m *workflows) snapshot(env node.Env, p *subjob.Subjob) message.DatacenterResult {
	out := message.DatacenterResult{Name: m.config.Datacenter, State: p.State, Error: p.Why, Duration: env.Now().Sub(p.Accepted)}
	for _, f := range p.Workflows {
		w := message.WorkflowResult{Name: f.Plan.Name, State: f.State, Error: f.Failure, VUs: f.Plan.VUs, Duration: f.Duration(env.Now()), Burned: f.Burned, Began: f.Began()}
		if f.State.Terminal() {
			w.Stats = f.Stats
		} else {
			w.Stats = m.sum(env, f)
			w.Error = cmp.Or(w.Error, f.Waits)
		}
		for _, s := range f.Shards {
			w.Cores += s.Cores
			if s.Tenancy == message.TenancyJob {
				w.Shared += s.Cores
			}
			for _, l := range s.Lost {
				w.Lost = append(w.Lost, l.LostAttempt)
			}
		}
		out.Workflows = append(out.Workflows, w)
	}
	out.Workers = m.workerShares(p, out.Workflows)
	return out
}

func (m *attempts) sum(env node.Env, f *subjob.Workflow) message.Stats {
	sum, err := f.Total()
	if err != nil {
		env.Emit(event.Ignored{Peer: env.Self().ID, Message: "ShardProgress", Why: err.Error()})
		return message.Stats{}
	}
	return sum
}
