package manager

import (
	"fmt"
	"math"
	"slices"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/discovery"
	"hyperscale/core/event"
	"hyperscale/core/ledger"
	"hyperscale/core/manager/pace"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/manager/vigil"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/pressure"
	"hyperscale/core/quorum"
	"hyperscale/core/uplink"
)

// holdings are the subjobs whose registers this manager holds, with its gates, its group, its
// workers and its ledger.
type holdings struct {
	config Config
	gates  *uplink.Links
	found  *discovery.Names // more gates
	group  *quorum.Member   // of the datacenter's managers; nil until the start
	ledger *ledger.Ledger[tag]
	pace   *pace.Pace // of dispatches

	roster   *roster.Roster
	subjobs  map[message.JobID]*subjob.Subjob
	order    []*subjob.Subjob                // subjobs, oldest first
	claims   map[message.JobID]*subjob.Claim // orders of a gate that wait for the register
	ended    map[message.JobID]node.Instant
	gone     map[message.JobID]node.Instant // jobs that no majority knows any more
	draining bool                           // it takes no new subjob
	pushing  bool                           // the timer of progress is set
	lone     lone
	nextTry  node.Instant // when the timer of dispatches fires
	loaded   node.Instant // when a worker last had too much to do to take shards; zero: never
	figures  figures
	sums     sums
}

// figures say how often workers report, and this manager.
type figures struct {
	gauge   pressure.Gauge
	shards  int           // that report, of this manager's subjobs
	reports int           // since this manager's last heartbeat
	told    time.Duration // in the last event
	least   time.Duration // of what it asked for since then
	turn    uint64        // of pushes
}

// every is how often workers report figures to this manager; zero: as often as they like.
func (f *figures) every(env node.Env) time.Duration {
	every := f.gauge.Every(env.Now(), f.shards)
	f.least = min(f.least, every)
	return every
}

// count counts the shards that may report.
func (f *figures) count(subjobs []*subjob.Subjob) {
	f.shards = 0
	for _, p := range subjobs {
		for _, w := range p.Workflows {
			if p.Result == nil && !w.State.Terminal() {
				f.shards += len(w.Shards)
			}
		}
	}
}

// tell emits how often workers report, while that is seldom, and at its end.
func (f *figures) tell(env node.Env) {
	every := f.every(env)
	if every != 0 || f.told != 0 {
		env.Emit(event.ReportsPaced{Every: every, Least: f.least, Shards: f.shards, Reports: f.reports, Behind: f.gauge.Behind()})
	}
	f.told, f.least, f.reports = every, every, 0
}

// attempts changes the states of shards and their workflows, and orders workers.
type attempts struct{ holdings }

// exclusives keeps the workers of the datacenter for a workflow that runs alone.
type exclusives struct{ attempts }

// workflows places workflows, and ends them and their subjobs.
type workflows struct{ exclusives }

// workerSide handles the reports of workers.
type workerSide struct{ workflows }

// gateSide handles the orders of gates and operators, and reports to gates.
type gateSide struct {
	workerSide
	sent     map[node.StreamID]*beats // heartbeats to each gate
	names    []string                 // of the gates' set, sorted
	set      uint64                   // version of that set
	seat     seatAsk
	orders   uint64 // to give a seat away
	turn     int    // in order: the first subjob of the next push
	operator operator
	watch    watch // for alerts
	vigil    vigil.Vigil
	stopping bool         // this node ends when it holds no subjob
	writeID  node.WriteID // of the last write of its own
}

// tenure takes registers over and gives them up.
type tenure struct{ gateSide }

// wake makes the timer call place at an instant, in case no other input does.
func (m *holdings) wake(env node.Env, at node.Instant) {
	if at <= env.Now() || m.nextTry > env.Now() && m.nextTry <= at {
		return
	}
	m.nextTry = at
	env.SetTimer(node.Key(node.PartManager, node.ManagerDispatch), at.Sub(env.Now()))
}

// successors are the other managers that can take a subjob.
func (m *holdings) successors() []node.Addr {
	var able []node.Addr
	for _, l := range m.group.Links.All() {
		if l.Stands && l.Registered && m.group.Alive(l.Addr) {
			able = append(able, l.Addr)
		}
	}
	return able
}

// use marks the files that a record names, including those behind a record that is itself a
// file. It returns false if that file is not here: then the manager can delete nothing before
// Mend has fetched it.
func (m *holdings) use(env node.Env, used map[message.FileDigest]bool, record []byte) bool {
	files, spilled := subjob.FilesOf(record)
	if spilled {
		used[files[0]] = true
		record, ok := m.group.Files.Have(files[0])
		if !ok {
			env.Emit(event.Reached{What: "manager/spill-fetched-to-sweep"})
			return false
		}
		files, _ = subjob.FilesOf(record)
	}
	for _, f := range files {
		used[f] = true
	}
	return true
}

// tell sends a subjob's end to its gate. While that gate is disconnected, it sends the end to
// another gate, which names the owner.
func (m *holdings) tell(env node.Env, p *subjob.Subjob) {
	if p.Result == nil || p.Stage != subjob.Recorded || !m.holds(env, p) {
		return
	}
	p.Told, p.Redirected = env.Now(), false
	if m.gates.Send(env, p.Gate, p.Result) {
		return
	}
	all := m.gates.All()
	for range all {
		p.Tries++
		if l := all[p.Tries%len(all)]; l.Stands {
			env.Send(l.Stream, p.Result)
			return
		}
	}
}

// extend moves the end of the gate's word for a subjob, never back. It counts from the
// send of the heartbeat that the gate answered, and from nothing else. A dispatch may be late,
// and a record does not tell its age.
func (m *holdings) extend(p *subjob.Subjob, sent node.Instant) {
	p.Deadline = max(p.Deadline, sent.Add(m.config.terms().Hold()))
}

func (m *holdings) setRunTimeout(env node.Env, p *subjob.Subjob) {
	if p.Stop.Decided != message.JobNone && p.After() == nil {
		return
	}
	env.SetTimer(node.KeyID(node.PartManager, node.ManagerJob, p.Job), max(0, p.TimeLeft(env.Now())))
}

// install adds a subjob to those that this manager holds.
func (m *holdings) install(env node.Env, p *subjob.Subjob) {
	p.Granted = env.Now()
	m.subjobs[p.Job] = p
	m.ledger.Open(p.Job)
	m.order = append(m.order, p)
}

// lapse stops acting for a subjob that this manager no longer holds. Its shards continue under
// the next holder.
func (m *holdings) lapse(env node.Env, p *subjob.Subjob) {
	if m.subjobs[p.Job] != p {
		return
	}
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			m.detach(s)
		}
	}
	delete(m.subjobs, p.Job)
	m.order = slices.DeleteFunc(slices.Clone(m.order), func(o *subjob.Subjob) bool { return o == p }) // callers iterate over the old slice
	m.ledger.Close(p.Job)
	env.CancelTimer(node.KeyID(node.PartManager, node.ManagerJob, p.Job))
}

func ignored(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

// owned returns the subjob if this manager may act for it: it holds the register, and has read
// its record.
func (m *holdings) owned(env node.Env, id message.JobID) *subjob.Subjob {
	if p := m.subjobs[id]; p != nil && m.holds(env, p) {
		return p
	}
	return nil
}

// holds says whether the lease of a subjob's register is valid now.
func (m *holdings) holds(env node.Env, p *subjob.Subjob) bool {
	token, ok := m.group.Leases.Holds(env.Now(), p.Job)
	return ok && token.Packed() == p.Fence.SubjobEpoch
}

// shardOf finds a shard of a subjob that this manager may act for, or nil.
func (m *holdings) shardOf(env node.Env, id message.ShardID) *subjob.Shard {
	return m.owned(env, id.Job).Shard(id)
}

// stands says whether a shard still belongs to a subjob of this manager; late results need the
// check.
func (m *holdings) stands(s *subjob.Shard) bool {
	p := s.Workflow.Subjob
	return m.subjobs[p.Job] == p && p.Result == nil
}

// over says that a job's subjob has ended for good: its register is released, or a majority has
// none.
func (m *holdings) over(env node.Env, job message.JobID) bool {
	if _, gone := m.gone[job]; gone {
		return true
	}
	sight, ok := m.group.Leases.Seen(env.Now(), job)
	return ok && sight.Released && m.claims[job] == nil
}

// settled says that a job's subjob is over, and that this manager keeps nothing of it.
func (m *holdings) settled(env node.Env, job message.JobID) bool {
	return m.subjobs[job] == nil && m.over(env, job)
}

// restSubjobs reports what subjobs hold at rest: nothing.
func (m *holdings) restSubjobs(tell node.Tell) {
	shards, attempts, rows := 0, 0, 0
	//lint:orderfree sums
	for _, p := range m.subjobs {
		for _, f := range p.Workflows {
			shards += len(f.Shards)
			for _, s := range f.Shards {
				attempts += len(s.Failed) + len(s.Lost)
				rows += len(s.Rows)
			}
		}
	}
	tell("manager/shards", shards, 0)
	tell("manager/attempts that failed", attempts, 0)
	tell("manager/leases of rows", rows, 0)
}

// assigned returns the shards that a worker got, in their order.
func (m *holdings) assigned(w *roster.Worker) []*subjob.Shard {
	given := w.Given()
	if len(given) == 0 {
		return nil
	}
	all := make([]*subjob.Shard, 0, len(given))
	for _, id := range given {
		if s := m.subjobs[id.Job].Shard(id); s != nil {
			all = append(all, s)
		}
	}
	return all
}

func (m *holdings) heard(env node.Env, w *roster.Worker) {
	env.SetTimer(node.KeyN(node.PartManager, node.ManagerWorker, w.Number), m.config.Silence)
}

// heldMax bounds held and claimed subjobs: those of all managers, in case the others are down.
func (m *holdings) heldMax() int { return max(1, len(m.config.Managers)) * m.config.SubjobsMax }

// filesMax bounds files in flight, like stored ones.
func filesMax() int { return archive.Default().FilesMax }

// remember records that a subjob has ended. If too many ended since the last sweep, it forgets
// the oldest.
func (m *holdings) remember(env node.Env, job message.JobID) {
	if _, known := m.ended[job]; !known && len(m.ended) >= 2*m.config.FinishedMax {
		m.forgetOldest(env)
	}
	m.ended[job] = env.Now()
}

// forgetOldest leaves a tombstone of the subjob that ended first.
func (m *holdings) forgetOldest(env node.Env) {
	job := oldest(m.ended)
	m.group.Leases.Forget(env, job)
	delete(m.ended, job)
}

// bury records that no majority knows a job any more.
func (m *holdings) bury(env node.Env, job message.JobID) {
	if _, known := m.gone[job]; !known && len(m.gone) >= m.config.FinishedMax {
		delete(m.gone, oldest(m.gone)) // the manager will ask a majority again
	}
	m.gone[job] = env.Now()
}

// oldest returns the first of a nonempty set.
func oldest(of map[message.JobID]node.Instant) message.JobID {
	var first message.JobID
	since := node.Instant(math.MaxInt64)
	//lint:orderfree the least of a total order
	for job, at := range of {
		if at < since || at == since && job.Compare(first) < 0 {
			first, since = job, at
		}
	}
	return first
}

// touch includes the subjob's progress in the next push: at once if it has moved, else when figures are
// due.
func (m *holdings) touch(env node.Env, p *subjob.Subjob) {
	p.Dirty = true
	if !m.pushing {
		m.pushing = true
		env.SetTimer(node.Key(node.PartManager, node.ManagerPush), m.config.ProgressInterval)
	}
}

func (m *holdings) acquire(env node.Env, job message.JobID, c *subjob.Claim, seed []byte) {
	c.Asked = true
	m.group.Leases.Acquire(env, job, seed)
}

// elsewhere says who holds a subjob's register, as far as this manager's own acceptor knows.
func (m *holdings) elsewhere(env node.Env, job message.JobID) (node.Addr, bool) {
	sight, ok := m.group.Leases.Seen(env.Now(), job)
	if !ok || sight.Released || sight.Left <= 0 || sight.Holder == env.Self().Addr || sight.Holder == "" {
		return "", false
	}
	return sight.Holder, true
}

// answer tells a subjob's gate that it is here, and its end if it has ended.
func (m *holdings) answer(env node.Env, p *subjob.Subjob) {
	if l := m.gates.To(p.Gate); l != nil && l.Stands {
		env.Send(l.Stream, &message.JobAccepted{Job: p.Job, Fence: p.Fence})
	}
	m.tell(env, p)
}

// room says why the manager can take no further subjob.
func (m *holdings) room() (message.Code, string) {
	switch {
	case m.draining:
		return message.CodeDraining, "this manager is being stopped"
	case m.unfinished() >= m.config.SubjobsMax:
		return message.CodeQueueFull, fmt.Sprintf("%d jobs are under way here, which is the bound", m.config.SubjobsMax)
	case m.ledger.Keeping() >= filesMax():
		return message.CodeStoreFull, fmt.Sprintf("%d files wait for a majority of the managers", m.ledger.Keeping())
	}
	return message.CodeNone, ""
}

func (m *holdings) unfinished() int {
	n := len(m.claims)
	for _, p := range m.order {
		if p.Stage != subjob.Acknowledged {
			n++
		}
	}
	return n
}

// overloadedWait is the least time after which a gate may dispatch to a manager again whose
// mailbox was full: it has handled what waits by then. At most it is twice as long.
const overloadedWait = time.Second

func (m *holdings) refuse(env node.Env, l *uplink.Link, d *message.JobDispatch, code message.Code, why string) {
	env.Emit(event.ShedOf(d, node.RoleGate, event.ShedFor(code), "dispatch of job "+d.Job.String(), why))
	r := &message.JobRefused{Job: d.Job, Fence: d.Fence, Code: code, Detail: why}
	if code == message.CodeOverloaded {
		r.RetryAfter = env.Rand(node.PurposeJitter).Duration(overloadedWait, 2*overloadedWait).Round(time.Millisecond)
	}
	env.Send(l.Stream, r)
}

func (m *holdings) refuseStale(env node.Env, l *uplink.Link, id message.JobID, got message.Fence, p *subjob.Subjob, what string) {
	current := p.Fence
	current.JobEpoch = max(current.JobEpoch, p.Epoch)
	env.Emit(event.FenceRefused{Shard: message.ShardID{Job: id}, Subjob: true, Got: got, Current: current, What: what})
	env.Send(l.Stream, &message.JobRefused{Job: id, Fence: got, Code: message.CodeStaleFence, Detail: "a higher fence was seen", Current: current})
}

func (m *holdings) refuseHolder(env node.Env, l *uplink.Link, id message.JobID, got message.Fence, holder node.Addr) {
	env.Send(l.Stream, &message.JobRefused{Job: id, Fence: got, Code: message.CodeNotOwner, Detail: "the manager at " + string(holder) + " owns this subjob", Holder: string(holder)})
}

// dropClaim gives a claim up and tells its gate why.
func (m *holdings) dropClaim(env node.Env, job message.JobID, code message.Code, why string) {
	c := m.claims[job]
	delete(m.claims, job)
	if c.Asked {
		m.group.Leases.Abandon(env, job)
	}
	if l := m.gates.To(c.Gate); l != nil && l.Stands && c.Dispatch != nil {
		m.refuse(env, l, c.Dispatch, code, why)
	}
}

// detach removes a shard from its worker, and returns the worker or nil.
func (m *holdings) detach(s *subjob.Shard) *roster.Worker {
	m.roster.Take(s.Worker, s.ID, s.Fence)
	return m.roster.Of(s.Worker)
}

// commit writes the subjob's record at the end of this step. The tag follows once a majority
// has it, and never if the manager loses the register first.
func (m *holdings) commit(p *subjob.Subjob, t tag) {
	if p.Orders != nil {
		node.Bug("manager: a record of job %v is written before the one in its register was read", p.Job)
	}
	if m.subjobs[p.Job] == p { // otherwise this manager no longer holds it
		m.ledger.Await(p.Job, t)
	}
}

func encode(m message.Body) []byte {
	b, err := message.Append(nil, m)
	if err != nil {
		node.Bug("manager: a record that cannot be written: %v", err)
	}
	return b
}
