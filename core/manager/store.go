package manager

import (
	"encoding/binary"
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A part is its dispatch, who gave it and whether it is to stop; then a record a
// slice, for its attempt, and one a result. When it has ended, its result takes
// the place of them all.
const (
	prefixPart   = "part/"
	prefixMeta   = "meta/"
	prefixSlice  = "slice/"
	prefixResult = "result/"
	prefixDone   = "done/"
)

// write is a Put that has not completed.
type write struct {
	what string
	then func(env node.Env, err error) // nil when nobody waits
}

func keyOf(prefix string, id message.SliceID) string {
	return fmt.Sprintf("%s%v/%d/%d", prefix, id.Job, id.Workflow, id.Ordinal)
}

func encode(m message.Body) []byte {
	b, err := message.Append(nil, m)
	if err != nil {
		node.Bug("manager: a record that cannot be written: %v", err)
	}
	return b
}

func (m *Machine) put(env node.Env, w write, records ...node.Record) {
	m.token++
	m.writes[m.token] = w
	env.Store().Put(records, m.token)
}

func (m *Machine) onStored(env node.Env, t node.Token, err error) {
	w, ok := m.writes[t]
	if !ok {
		node.Bug("manager: token %d completes a write that was never begun", t)
	}
	delete(m.writes, t)
	if err != nil {
		env.Emit(event.StoreFailed{What: w.what, Err: err.Error()})
	}
	if w.then != nil {
		w.then(env, err)
	}
}

// writePart also drops all that a lower fence has left.
func (m *Machine) writePart(env node.Env, p *part, then func(node.Env, error)) {
	id := p.job.String()
	var records []node.Record
	if p.result != nil {
		records = append(records, node.Record{Key: prefixPart + id}, node.Record{Key: prefixMeta + id}, doneRecord(p))
	} else {
		records = append(records, node.Record{Key: prefixPart + id, Value: encode(p.dispatch)}, metaRecord(p), node.Record{Key: prefixDone + id})
	}
	if old := m.parts[p.job]; old != nil {
		records = append(records, old.leftovers()...)
	}
	m.put(env, write{"part of job " + id, then}, records...)
}

// leftovers deletes the records of a part's slices.
func (p *part) leftovers() []node.Record {
	var records []node.Record
	for _, f := range p.workflows {
		for _, s := range f.slices {
			records = append(records, node.Record{Key: keyOf(prefixSlice, s.id)}, node.Record{Key: keyOf(prefixResult, s.id)})
		}
	}
	return records
}

func metaRecord(p *part) node.Record {
	var e encoder
	e.text(string(p.gate))
	e.number(uint64(p.asked))
	e.text(p.why)
	return node.Record{Key: prefixMeta + p.job.String(), Value: e.bytes}
}

// doneRecord is the result behind the name of who waits for it.
func doneRecord(p *part) node.Record {
	var e encoder
	e.text(string(p.gate))
	return node.Record{Key: prefixDone + p.job.String(), Value: append(e.bytes, encode(p.result)...)}
}

func (m *Machine) writeStop(env node.Env, p *part, then func(node.Env, error)) {
	m.put(env, write{"end of job " + p.job.String(), then}, metaRecord(p))
}

// writeDone waits while a higher fence of the job is being written: this record
// would come after that one and undo it.
func (m *Machine) writeDone(env node.Env, p *part) {
	if m.incoming[p.job] != nil {
		return
	}
	p.writing = true
	id := p.job.String()
	records := append(p.leftovers(), node.Record{Key: prefixPart + id}, node.Record{Key: prefixMeta + id}, doneRecord(p))
	m.put(env, write{"result of job " + id, func(env node.Env, err error) { m.onDoneStored(env, p, err) }}, records...)
}

func (m *Machine) writeResult(env node.Env, s *slice, r *message.SliceResult) {
	m.put(env, write{"result of slice " + s.id.String(), func(env node.Env, err error) { m.onResultStored(env, s, r, err) }},
		node.Record{Key: keyOf(prefixResult, s.id), Value: encode(r)})
}

// writeSlices keeps slices of one workflow as they stand; those with a new
// attempt are sent when it is on disk. Until the first such write has succeeded
// all slices go together: how a workflow is cut is on disk whole or not at all.
func (m *Machine) writeSlices(env node.Env, list []*slice) {
	f := list[0].workflow
	if !f.kept {
		list = f.slices
	}
	records := make([]node.Record, len(list))
	attempts := make([]uint64, len(list))
	for i, s := range list {
		records[i] = node.Record{Key: keyOf(prefixSlice, s.id), Value: encodeSlice(s)}
		attempts[i] = s.attempt
	}
	list = slices.Clone(list)
	m.put(env, write{fmt.Sprintf("%d slices of job %v", len(list), list[0].id.Job), func(env node.Env, err error) {
		f.kept = f.kept || err == nil
		for i, s := range list {
			m.onAttemptStored(env, s, attempts[i], err)
		}
		m.place(env)
	}}, records...)
}

// writeEnd keeps how a slice ends before it does.
func (m *Machine) writeEnd(env node.Env, s *slice) {
	s.endWriting = true
	f := s.workflow
	list := []*slice{s}
	if !f.kept {
		list = f.slices
	}
	records := make([]node.Record, len(list))
	for i, o := range list {
		records[i] = node.Record{Key: keyOf(prefixSlice, o.id), Value: encodeSlice(o)}
	}
	m.put(env, write{"end of slice " + s.id.String(), func(env node.Env, err error) {
		f.kept = f.kept || err == nil
		m.onEndStored(env, s, err)
		m.place(env)
	}}, records...)
}

func encodeSlice(s *slice) []byte {
	var e encoder
	f := s.fence()
	state := s.state
	if s.end != message.WorkflowNone {
		state = s.end
	}
	for _, n := range []uint64{f.Job, f.Manager, f.Attempt, s.vus, s.first, uint64(s.cores), uint64(state), uint64(s.dispatches), uint64(s.reruns)} {
		e.number(n)
	}
	e.text(string(s.worker))
	e.text(s.why)
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
	return e.bytes
}

func (d *decoder) slice(id message.SliceID, f *workflow) (*slice, message.Fence) {
	fence := message.Fence{Job: d.number(), Manager: d.number()}
	s := &slice{workflow: f, id: id, written: true}
	s.attempt, s.vus, s.first, s.cores = d.number(), d.number(), d.number(), uint32(d.number())
	s.state, s.dispatches, s.reruns = message.WorkflowState(d.number()), int(d.number()), int(d.number())
	s.worker, s.why = node.ID(d.text()), d.text()
	for n := d.number(); n > 0 && !d.bad; n-- {
		s.failed = append(s.failed, node.ID(d.text()))
	}
	for n := d.number(); n > 0 && !d.bad; n-- {
		s.lost = append(s.lost, message.LostAttempt{Slice: id, Attempt: d.number(), Worker: d.text(), Reason: d.text(), Started: d.number(), OK: d.number()})
	}
	return s, fence
}

type encoder struct{ bytes []byte }

func (e *encoder) number(n uint64) { e.bytes = binary.AppendUvarint(e.bytes, n) }

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.bytes = append(e.bytes, s...)
}

// decoder reads what an encoder wrote; bad stays once it is set.
type decoder struct {
	bytes []byte
	bad   bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.bytes)
	if size <= 0 {
		d.bad, d.bytes = true, nil
		return 0
	}
	d.bytes = d.bytes[size:]
	return n
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.bytes)) {
		d.bad, d.bytes = true, nil
		return ""
	}
	s := string(d.bytes[:n])
	d.bytes = d.bytes[n:]
	return s
}
