package manager

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"time"

	"hyperscale/core/lease"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// An exclusive workflow first asks every worker of the datacenter to be kept for it, whichever
// managers place on them, and begins once all are. The workers decide, as each of them sees all
// dispatches: a manager knows only of its own.
//
//	manager A                 worker 1   worker 2              manager B
//	   |------- WorkerHold ------>|---------->|                    |
//	   |<------ WorkerHeld -------|-----------|------------------->| places nothing
//	   |                          |           |<- its heartbeats, --|
//	   |<--- WorkerHeld {Known} --|-----------|  answered: Known   |
//	   | cut, on a majority       |           |                    |
//	   |------ ShardDispatch ---->|           | refuses dispatches |
//
// Of two that ask, the later job lets go, and so does one that does not get all workers in time.

// lone is the workflow that has all workers of the datacenter, or asks for them.
type lone struct {
	workflow *subjob.Workflow // nil: none
	asked    node.Instant     // when it asked for them
	again    node.Instant     // none asks before this time, since one let go
	left     node.Instant     // when this manager last lost a worker, or began beside others; zero: never
}

// exclusive says that a workflow runs alone.
func exclusive(f *subjob.Workflow) bool {
	return f.Plan != nil && f.Plan.Priority == message.PriorityExclusive
}

// patient is how long a workflow asks for all workers, and how long none asks after it let go.
// Meanwhile the manager hears each worker, or gives it up.
func (c *Config) patient() time.Duration { return c.Silence + c.Heartbeat }

// obstacle says what keeps a workflow from having all workers for itself. If final, it does not
// get them soon.
func (m *holdings) obstacle(env node.Env, f *subjob.Workflow) (what string, final bool) {
	if m.lone.left != 0 && env.Now().Sub(m.lone.left) < m.config.patience() {
		return "workers that this manager lost to stop what they ran", true
	}
	for _, w := range m.roster.All() {
		mine := w.Held.Of(f.Subjob.Job, f.Index)
		switch {
		case !w.Stands():
			return fmt.Sprintf("worker %s to return", w.Peer.ID), true
		case len(f.Shards) == 0 && w.Free() < w.Total:
			return fmt.Sprintf("all %d cores of worker %s, %d are free", w.Total, w.Peer.ID, w.Free()), true
		case len(f.Shards) == 0 && w.Loaded():
			return fmt.Sprintf("worker %s to hand over its results", w.Peer.ID), true
		case !mine && w.Held.Job != (message.JobID{}):
			what, final = fmt.Sprintf("workflow %d of job %v to end, which runs alone", w.Held.Workflow, w.Held.Job), final || before(w.Held, f)
		case !mine || !w.Held.Known:
			what = cmp.Or(what, fmt.Sprintf("word of worker %s", w.Peer.ID))
		}
	}
	if what == "" || m.lone.workflow != f {
		for _, o := range m.group.Swim.Members() {
			if o.Role == node.RoleWorker && !o.State.Gone() && m.roster.Of(o.ID) == nil {
				return fmt.Sprintf("worker %s to connect to this manager", o.ID), true
			}
		}
	}
	return what, final
}

// before says that of two workflows that ask for all workers the first one keeps them.
func before(h roster.Held, f *subjob.Workflow) bool {
	return cmp.Or(h.Job.Compare(f.Subjob.Job), cmp.Compare(h.Workflow, f.Index)) < 0
}

// keptFor names the workflow that keeps another one from the workers; empty: none does.
func (m *holdings) keptFor(env node.Env, f *subjob.Workflow) string {
	if o := m.lone.workflow; o != nil && o != f {
		return fmt.Sprintf("workflow %q to end, which runs alone", o.Plan.Name)
	}
	held, kept := roster.Held{}, false
	if w := m.roster.HeldBut(f.Subjob.Job, f.Index); w != nil {
		held, kept = w.Held, true
	} else {
		held, kept = m.told(env, f)
	}
	if kept {
		return fmt.Sprintf("workflow %d of job %v to end, which runs alone", held.Workflow, held.Job)
	}
	return ""
}

// Managers tell each other beside their registers' answers which workflow runs alone: a manager
// that hears workers too late, as after a cut, hears it with the majority's word on its own cut.
const (
	noteOwn   = 1                        // by the manager that dispatches it
	noteHeard = 2                        // by one that heard it of that manager, or of a worker
	noteSize  = len(message.JobID{}) + 5 // job, workflow, and one of these
	heardFor  = 1200 * time.Millisecond  // how long what was only heard counts: until its sender's next frames
)

// noteOf encodes a note.
func noteOf(h roster.Held, how byte) []byte {
	return append(binary.BigEndian.AppendUint32(append(make([]byte, 0, noteSize), h.Job[:]...), h.Workflow), how)
}

// readNote decodes a note; false: there is none.
func readNote(b []byte) (h roster.Held, how byte, ok bool) {
	if len(b) != noteSize {
		return h, 0, false
	}
	n := copy(h.Job[:], b)
	h.Workflow = binary.BigEndian.Uint32(b[n:])
	return h, b[noteSize-1], true
}

// told returns a workflow that runs alone, according to another manager, and is not this one.
func (m *holdings) told(env node.Env, f *subjob.Workflow) (roster.Held, bool) {
	return m.config.toldBy(m.group.Leases.Notes(), env.Now(), f)
}

func (c *Config) toldBy(notes []lease.Note, now node.Instant, f *subjob.Workflow) (roster.Held, bool) {
	for _, n := range notes {
		if h, how, ok := readNote(n.Text); ok && c.noteCounts(now, n, how) && !h.Of(f.Subjob.Job, f.Index) {
			return h, true
		}
	}
	return roster.Held{}, false
}

// noteCounts says that a note is young enough.
func (c *Config) noteCounts(now node.Instant, n lease.Note, how byte) bool {
	age := now.Sub(n.At)
	return age < heardFor || how == noteOwn && age < 2*c.RenewalTimeout
}

// tellLone sets the note of this manager.
func (m *holdings) tellLone(env node.Env) {
	var note []byte
	if f := m.lone.workflow; f != nil && len(f.Shards) > 0 {
		note = noteOf(roster.Held{Job: f.Subjob.Job, Workflow: f.Index}, noteOwn)
	} else if w := m.roster.HeldBut(message.JobID{}, 0); w != nil && w.Held.Known {
		note = noteOf(w.Held, noteHeard)
	} else {
		for _, n := range m.group.Leases.Notes() {
			if h, how, ok := readNote(n.Text); ok && how == noteOwn && m.config.noteCounts(env.Now(), n, how) {
				note = noteOf(h, noteHeard)
			}
		}
	}
	m.group.Leases.SetNote(note)
}

// may says whether the manager may send attempts of a workflow to workers now.
func (m *holdings) may(env node.Env, f *subjob.Workflow) bool {
	if exclusive(f) {
		what, _ := m.obstacle(env, f)
		return what == ""
	}
	return m.keptFor(env, f) == ""
}

// keep asks a worker to be kept for the workflow that has all workers, or asks for them.
func (m *holdings) keep(env node.Env, w *roster.Worker) {
	f := m.lone.workflow
	if f == nil || !w.Stands() || m.subjobs[f.Subjob.Job] != f.Subjob || !m.holds(env, f.Subjob) || !f.Subjob.Fresh(env.Now()) {
		return
	}
	env.Send(w.Stream, &message.WorkerHold{Job: f.Subjob.Job, Workflow: f.Index, Fence: f.Subjob.Fence})
}

// followLone settles which workflow has all workers: one that was cut, here or by a former holder of
// its subjob, else the one that asks.
func (m *exclusives) followLone(env node.Env) {
	f := m.lone.workflow
	cut := m.cutAlone()
	asks := f != nil && len(f.Shards) == 0 && f.End == message.WorkflowNone && !f.Stopping() && m.subjobs[f.Subjob.Job] == f.Subjob
	if cut == f || cut == nil && asks {
		return
	}
	m.letGo(env)
	if m.lone.workflow = cut; cut != nil {
		m.keepAll(env)
	}
}

// cutAlone returns a workflow of this manager that runs alone, the present one first.
func (m *exclusives) cutAlone() (found *subjob.Workflow) {
	for _, p := range m.order {
		for _, f := range p.Workflows {
			if exclusive(f) && len(f.Shards) > 0 && f.Shards[0].Tenancy == message.TenancyMachine && f.End == message.WorkflowNone {
				if found == nil || f == m.lone.workflow {
					found = f
				}
			}
		}
	}
	return found
}

func (m *exclusives) keepAll(env node.Env) {
	for _, w := range m.roster.All() {
		m.keep(env, w)
	}
}

// letGo ends what the workflow has of workers, unless a shard of it may still run: then the workers
// end it by themselves. A later holder of its subjob continues it.
func (m *exclusives) letGo(env node.Env) {
	f := m.lone.workflow
	m.lone.workflow = nil
	if f == nil || m.subjobs[f.Subjob.Job] != f.Subjob || !m.holds(env, f.Subjob) {
		return
	}
	for _, s := range f.Shards {
		if s.Kept == nil && (s.Written || s.Open) {
			return
		}
	}
	for _, w := range m.roster.All() {
		if w.Stands() {
			env.Send(w.Stream, &message.WorkerHold{Job: f.Subjob.Job, Workflow: f.Index, Fence: f.Subjob.Fence, Release: true})
		}
	}
}

// hasAll says whether all workers are kept for an exclusive workflow. If not, the workflow asks for
// them while that has a prospect, and others wait meanwhile.
func (m *workflows) hasAll(env node.Env, f *subjob.Workflow) bool {
	what, final := m.obstacle(env, f)
	asks := m.lone.workflow == f
	switch {
	case asks && what == "":
		return true
	case asks && (final || env.Now().Sub(m.lone.asked) >= m.config.patient()):
		m.letGo(env)
		m.lone.again = env.Now().Add(m.config.patient())
		m.wake(env, m.lone.again)
	case !asks && !final && env.Now() >= m.lone.again:
		m.lone.workflow, m.lone.asked = f, env.Now()
		m.keepAll(env)
		m.wake(env, env.Now().Add(m.config.patient()))
	}
	m.lacks(env, f, cmp.Or(what, "word of its workers"), "submit it when the datacenter is free")
	return false
}

// send sends attempts whose record is on a majority, or returns them to the shards that wait for
// cores: no load begins beside a workflow that runs alone.
func (m *exclusives) send(env node.Env, f *subjob.Workflow, shards ...*subjob.Shard) {
	may := m.may(env, f)
	for _, s := range shards {
		if may || f.Stopping() || !s.Live() || s.Written || !m.stands(s) {
			m.dispatch(env, s)
			continue
		}
		s.Dispatches--
		m.detach(s)
		m.back(env, s, env.Now())
	}
}

// onWorkerHeld notes for which workflow a worker is kept. A workflow that gets its last worker so
// begins; one that waits for another to end may.
func (m *workerSide) onWorkerHeld(env node.Env, w *roster.Worker, h *message.WorkerHeld) {
	if next := (roster.Held{Job: h.Job, Workflow: h.Workflow, Known: h.Known}); next != w.Held {
		m.roster.Hold(w, next)
		m.place(env)
	}
}
