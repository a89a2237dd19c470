package manager

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A register's record says what the next holder needs to go on with a subjob: who
// is told, the files it stands on, how it is to end, how its workflows are cut,
// and what of them has ended. What runs is not in it: workers tell.
const (
	recordSubjob = 1 // the subjob itself
	recordSpill  = 2 // the digest of a file that holds the subjob: it is large
)

var errRecord = errors.New("a record of another version, or damaged")

func encode(m message.Body) []byte {
	b, err := message.Append(nil, m)
	if err != nil {
		node.Bug("manager: a record that cannot be written: %v", err)
	}
	return b
}

func spilled(d message.FileDigest) []byte {
	e := encoder{bytes: []byte{recordSpill}}
	e.file(d)
	return e.bytes
}

// spillOf returns the file that a record names in its own place.
func spillOf(record []byte) (message.FileDigest, bool) {
	if len(record) == 0 || record[0] != recordSpill {
		return message.FileDigest{}, false
	}
	d := decoder{bytes: record[1:]}
	f := d.file()
	return f, !d.bad
}

// record is a subjob as it is to be, were it taken over after this write.
func (p *subjob) record(now node.Instant) []byte {
	e := encoder{bytes: []byte{recordSubjob}}
	e.number(max(p.epoch, p.fence.JobEpoch))
	e.text(string(p.gate))
	e.file(p.file)
	e.number(uint64(max(0, now.Sub(p.accepted))))
	e.number(uint64(p.runTimeout))
	e.number(0) // once what was left of the gate's word: a record's age is not known
	e.number(uint64(p.asked))
	e.text(p.why)
	e.file(p.kept)
	e.number(uint64(len(p.workflows)))
	for _, f := range p.workflows {
		f.encode(&e, p.accepted)
	}
	return e.bytes
}

func (f *workflow) encode(e *encoder, since node.Instant) {
	e.number(uint64(f.end))
	e.text(cmp.Or(f.failure, f.abort))
	e.number(offset(f.started, since))
	e.number(offset(f.ended, since))
	e.number(f.leased)
	e.number(f.burned)
	e.number(uint64(len(f.shards)))
	for _, s := range f.shards {
		s.encode(e)
	}
}

// offset is an instant of the subjob's own time, plus one; zero for never.
func offset(i, since node.Instant) uint64 {
	if i == 0 {
		return 0
	}
	return uint64(max(0, i.Sub(since))) + 1
}

func (s *shard) encode(e *encoder) {
	for _, n := range []uint64{s.vus, s.first, uint64(s.cores), uint64(s.dispatches), uint64(s.reruns), uint64(s.end)} {
		e.number(n)
	}
	e.text(s.why)
	e.fence(s.floor)
	e.number(uint64(len(s.failed)))
	for _, id := range s.failed {
		e.text(string(id))
	}
	e.number(uint64(len(s.lost)))
	for _, l := range s.lost {
		e.number(l.Attempt)
		e.text(l.Worker)
		e.text(l.Reason)
		e.number(l.Started)
		e.number(l.OK)
	}
	s.encodeRows(e)
	if s.kept == nil {
		e.number(0)
		return
	}
	e.number(uint64(s.kept.state))
	e.text(string(s.worker))
	e.fence(s.fence)
	e.file(s.kept.file)
	e.number(s.kept.started)
	e.text(s.kept.why)
}

// decodePart reads a record. The subjob has neither its plan nor its results yet.
func decodeSubjob(job message.JobID, record []byte, now node.Instant) (*subjob, error) {
	if len(record) == 0 || record[0] != recordSubjob {
		return nil, errRecord
	}
	d := decoder{bytes: record[1:]}
	p := &subjob{job: job}
	p.epoch = d.number()
	p.fence.JobEpoch = p.epoch
	p.gate = node.Addr(d.text())
	p.file = d.file()
	p.accepted = now.Add(-time.Duration(d.number()))
	p.runTimeout = time.Duration(d.number())
	d.number()
	p.asked = message.JobState(d.number())
	p.stop = p.asked
	p.why = d.text()
	p.kept = d.file()
	for i := range d.count() {
		f := &workflow{subjob: p, index: uint32(i)}
		f.decode(&d, p.accepted)
		p.workflows = append(p.workflows, f)
	}
	if d.bad {
		return nil, errRecord
	}
	return p, nil
}

func (f *workflow) decode(d *decoder, since node.Instant) {
	f.end, f.failure = message.WorkflowState(d.number()), d.text()
	f.started, f.ended = instant(d.number(), since), instant(d.number(), since)
	f.leased, f.burned = d.number(), d.number()
	for i := range d.count() {
		s := &shard{workflow: f, id: message.ShardID{Job: f.subjob.job, Workflow: f.index, Ordinal: uint32(i)}}
		s.decode(d)
		f.shards = append(f.shards, s)
	}
	f.cut = len(f.shards) > 0
}

func instant(offset uint64, since node.Instant) node.Instant {
	if offset == 0 {
		return 0
	}
	return since.Add(time.Duration(offset - 1))
}

func (s *shard) decode(d *decoder) {
	s.vus, s.first, s.cores = d.number(), d.number(), uint32(d.number())
	s.dispatches, s.reruns, s.end = int(d.number()), int(d.number()), message.WorkflowState(d.number())
	s.why, s.floor = d.text(), d.fence()
	for range d.count() {
		s.failed = append(s.failed, node.ID(d.text()))
	}
	for range d.count() {
		s.lost = append(s.lost, message.LostAttempt{Shard: s.id, Attempt: d.number(), Worker: d.text(), Reason: d.text(), Started: d.number(), OK: d.number()})
	}
	s.decodeRows(d)
	if state := message.WorkflowState(d.number()); state != message.WorkflowNone {
		s.kept = &kept{state: state}
		s.worker = node.ID(d.text())
		s.fence, s.kept.file, s.kept.started, s.kept.why = d.fence(), d.file(), d.number(), d.text()
	}
}

// filesOf names the files that a record stands on.
func filesOf(job message.JobID, record []byte) []message.FileDigest {
	if f, ok := spillOf(record); ok {
		return []message.FileDigest{f}
	}
	p, err := decodeSubjob(job, record, 0)
	if err != nil {
		return nil
	}
	return p.files()
}

func (p *subjob) files() []message.FileDigest {
	list := []message.FileDigest{p.file, p.kept}
	for _, f := range p.workflows {
		for _, s := range f.shards {
			if s.kept != nil {
				list = append(list, s.kept.file)
			}
		}
	}
	return slices.DeleteFunc(list, func(d message.FileDigest) bool { return d == message.FileDigest{} })
}

// commit writes the subjob's record as it stands at the end of this step; then
// follows once a majority has it, and never if the register is lost before.
func (m *Machine) commit(env node.Env, p *subjob, then func(node.Env)) {
	if then == nil {
		then = func(node.Env) {}
	}
	if p.orders != nil {
		node.Bug("manager: a record of job %v is written before the one in its register was read", p.job)
	}
	p.waits = append(p.waits, wait{then: then})
	if !p.changed {
		p.changed = true
		m.changed = append(m.changed, p)
	}
}

// flush sends the records that this step has changed. It says whether there was
// any.
func (m *Machine) flush(env node.Env) bool {
	list := m.changed
	m.changed = nil
	for _, p := range list {
		p.changed = false
		if m.subjobs[p.job] == p && !p.spill {
			m.write(env, p)
		}
	}
	return len(list) > 0
}

func (m *Machine) write(env node.Env, p *subjob) {
	m.ticket++
	ticket := m.ticket
	for i := range p.waits {
		if p.waits[i].ticket == 0 {
			p.waits[i].ticket = ticket
		}
	}
	record := p.record(env.Now())
	if len(record) < m.config.SpillAt {
		m.leases.Update(env, p.job, record, ticket)
		return
	}
	// One at a time, so that an older one never follows a newer one.
	p.spill = true
	began := env.Now()
	var file message.FileDigest
	file = m.keep(env, record, func(env node.Env, err error) {
		if m.subjobs[p.job] == p && env.Now().Sub(began) >= m.config.FileAge/8 {
			m.keepAgain(env, p, ticket)
			return
		}
		p.spill = false
		if m.subjobs[p.job] != p {
			return
		}
		if err != nil {
			p.unsend(ticket) // onRetry writes it again
			return
		}
		m.leases.Update(env, p.job, spilled(file), ticket)
		if p.unsent() {
			m.commit(env, p, nil)
		}
	})
}

// keepAgain keeps the files of a record that took long to become a file itself: the
// fellows that have them may be about to sweep them. Then it writes the record anew.
func (m *Machine) keepAgain(env node.Env, p *subjob, ticket uint64) {
	env.Emit(event.Reached{What: "manager/kept-again"})
	missing := 1
	done := func(env node.Env, _ error) {
		if missing--; missing > 0 || m.subjobs[p.job] != p {
			return
		}
		p.spill = false
		p.unsend(ticket)
		m.commit(env, p, nil)
	}
	for _, f := range p.files() {
		if b, ok := m.files.Have(f); ok {
			missing++
			m.keep(env, b, done)
		}
	}
	done(env, nil)
}

// unsend takes back the ticket of what was not sent.
func (p *subjob) unsend(ticket uint64) {
	for i := range p.waits {
		if p.waits[i].ticket == ticket {
			p.waits[i].ticket = 0
		}
	}
}

func (p *subjob) unsent() bool {
	return slices.ContainsFunc(p.waits, func(w wait) bool { return w.ticket == 0 })
}

// onUpdated goes on with what waited for a record that a majority has now.
func (m *Machine) onUpdated(env node.Env, job message.JobID, ticket uint64) {
	p := m.subjobs[job]
	if p == nil {
		return
	}
	for len(p.waits) > 0 && p.waits[0].ticket != 0 && p.waits[0].ticket <= ticket && m.subjobs[job] == p {
		then := p.waits[0].then
		p.waits = p.waits[1:]
		then(env)
	}
}
