package manager

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onStop: no new subjob is taken; those that are held go to fellows, where what runs
// goes on, or end here while there is none, for a while. Then this manager leaves
// its group. A second stop does not wait.
func (m *Machine) onStop(env node.Env) {
	if m.stopping || m.group == nil {
		env.Halt("")
		return
	}
	m.stopping = true
	env.SetTimer(node.Key(node.PartManager, node.ManagerDrain), m.config.DrainTimeout)
	m.drain(env)
	m.group.Election.HandOver(env)
	m.drained(env)
}

// operator is what an operator ordered.
type operator struct {
	drains    bool // this manager takes no subjobs
	unwritten bool // the disk did not take the order
}

// onDrainOrder obeys an operator's order, or passes it on to whom it names.
func (m *Machine) onDrainOrder(env node.Env, d *message.Drain) {
	switch {
	case d.Node != string(env.Self().ID):
		if w := m.roster.Of(node.ID(d.Node)); w.Stands() {
			env.Send(w.Stream, d)
		} else if l := m.group.Links.Peer(node.ID(d.Node)); l != nil {
			env.Send(l.Stream, d)
		}
	case m.operator.drains == !d.Undo || m.stopping:
	case d.Undo:
		m.operator.drains, m.draining = false, false
		m.writeOrder(env)
		m.beatAll(env)
	default:
		m.operator.drains = true
		m.writeOrder(env)
		m.drain(env)
	}
}

// keyDraining is there while an operator wants this manager empty: a restart changes
// nothing of that.
const keyDraining = "draining"

// writeOrder keeps an operator's order, or that it is over.
func (m *Machine) writeOrder(env node.Env) {
	r := node.Record{Key: keyDraining}
	if m.operator.drains {
		r.Value = []byte{1}
	}
	m.token++
	env.Store().Put([]node.Record{r}, m.token)
}

// onOrderStored tries again soon where the disk refused it.
func (m *Machine) onOrderStored(env node.Env, in *node.Input) {
	if in.Token == m.token {
		m.operator.unwritten = in.Err != nil
	}
	if in.Err != nil {
		env.Emit(event.StoreFailed{What: "whether it is drained", Err: in.Err.Error()})
	}
}

// rewriteOrder does.
func (m *Machine) rewriteOrder(env node.Env) {
	if m.operator.unwritten {
		m.operator.unwritten = false
		m.writeOrder(env)
	}
}

func (m *Machine) drain(env node.Env) {
	m.draining = true
	m.handOver(env)
	m.beatAll(env)
}

// handOver gives each subjob to a fellow that stands. Acting for it stops here first.
func (m *Machine) handOver(env node.Env) {
	able := m.successors()
	if len(able) == 0 {
		return
	}
	for i, p := range slices.Clone(m.order) {
		if m.holds(env, p) && p.Stage != subjob.Acknowledged && m.ledger.Idle(p.Job) {
			m.lapse(env, p)
			m.group.Leases.Transfer(env, p.Job, able[i%len(able)])
		}
	}
}

// successors are the fellows that can be given a subjob.
func (m *Machine) successors() []node.Addr {
	var able []node.Addr
	for _, l := range m.group.Links.All() {
		if l.Stands && l.Registered && m.group.Alive(l.Addr) {
			able = append(able, l.Addr)
		}
	}
	return able
}

// drained leaves once nothing is held here any more.
func (m *Machine) drained(env node.Env) {
	if m.stopping && len(m.subjobs) == 0 && len(m.claims) == 0 && len(m.group.Leases.Held()) == 0 {
		m.depart(env)
	}
}

func (m *Machine) depart(env node.Env) {
	m.group.Swim.Leave(env)
	env.Halt("")
}

// onSweep forgets what has ended: its register becomes a tombstone some time after
// its release, and files that no register names are dropped.
func (m *Machine) onSweep(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerSweep), m.config.SweepInterval)
	m.giveUpResults(env)
	m.rewriteOrder(env)
	used, unknown := map[message.FileDigest]bool{}, !m.group.Leases.Speaks()
	for _, job := range m.group.Leases.Known() {
		sight, ok := m.group.Leases.Seen(env.Now(), job)
		if !ok {
			continue
		}
		if !sight.Released {
			if sight.Holder != env.Self().Addr { // else its release is not on this manager's own disk yet
				delete(m.ended, job)
			}
		} else if since, known := m.ended[job]; !known {
			m.remember(env, job)
		} else if env.Now().Sub(since) >= m.config.Retention {
			m.group.Leases.Forget(env, job)
			delete(m.ended, job)
			continue
		}
		if !m.use(env, used, job, sight.Record) {
			unknown = true
		}
	}
	for len(m.ended) > m.config.FinishedMax {
		m.forgetOldest(env)
	}
	for _, p := range m.order {
		for _, f := range p.Files() {
			used[f] = true
		}
	}
	//lint:orderfree each entry goes or stays by itself
	for job, since := range m.gone {
		if env.Now().Sub(since) >= m.config.Retention {
			delete(m.gone, job)
		}
	}
	if m.group.Leases.Speaks() {
		m.group.Files.Mend(env, used)
	}
	if !unknown {
		m.group.Files.Sweep(env, used)
	}
	m.sweepStrays(env)
}

// mend brings the files that this manager's registers name and that it does not have.
// Those behind a record that is itself a file follow with an early sweep.
func (m *Machine) mend(env node.Env) {
	used := map[message.FileDigest]bool{}
	for _, job := range m.group.Leases.Known() {
		if sight, ok := m.group.Leases.Seen(env.Now(), job); ok && !m.use(env, used, job, sight.Record) {
			env.SetTimer(node.Key(node.PartManager, node.ManagerSweep), m.config.Retry)
		}
	}
	m.group.Files.Mend(env, used)
}

// use marks the files of a record, those behind one that is itself a file too. False:
// that file is not here, so that nothing can be swept before Mend has brought it.
func (m *Machine) use(env node.Env, used map[message.FileDigest]bool, job message.JobID, record []byte) bool {
	if file, ok := subjob.SpillOf(record); ok {
		used[file] = true
		if record, ok = m.group.Files.Have(file); !ok {
			env.Emit(event.Reached{What: "manager/spill-fetched-to-sweep"})
			return false
		}
	}
	for _, f := range subjob.FilesOf(job, record) {
		used[f] = true
	}
	return true
}

// giveUpResults releases subjobs whose end no gate ever acknowledged.
func (m *Machine) giveUpResults(env node.Env) {
	for _, p := range slices.Clone(m.order) {
		if p.Stage >= subjob.Recorded && env.Now().Sub(p.Finished) >= m.config.ResultAge && m.holds(env, p) {
			env.Emit(event.Shed{What: "result of job " + p.Job.String(), Why: "no gate has acknowledged it for " + m.config.ResultAge.String()})
			m.dismiss(env, p)
		}
	}
}
