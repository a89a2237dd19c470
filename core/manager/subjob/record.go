package subjob

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A register's record says what the next holder needs to go on with a subjob: the gate to
// report to, the files it stands on, how it is to end, how its workflows are cut, and what
// of them has ended. It does not say what runs: workers report that.
const (
	recordSubjob = 1 // the subjob itself
	recordSpill  = 2 // the digest of a file that holds the subjob: it is large
)

// ErrRecord is of a record that cannot be read.
var ErrRecord = errors.New("a record of another version, or damaged")

// Spilled is the record that names a file in its own place.
func Spilled(d message.FileDigest) []byte {
	e := encoder{bytes: []byte{recordSpill}}
	e.file(d)
	return e.bytes
}

// SpillOf returns the file that a record names in its own place.
func SpillOf(record []byte) (message.FileDigest, bool) {
	if len(record) == 0 || record[0] != recordSpill {
		return message.FileDigest{}, false
	}
	d := decoder{bytes: record[1:]}
	f := d.file()
	return f, !d.bad
}

// Record is a subjob as it is to be, were it taken over after this write.
func (p *Subjob) Record(now node.Instant) []byte {
	e := encoder{bytes: []byte{recordSubjob}}
	e.number(max(p.Epoch, p.Fence.JobEpoch))
	e.text(string(p.Gate))
	e.file(p.File)
	e.number(uint64(max(0, now.Sub(p.Accepted))))
	e.number(uint64(p.RunTimeout))
	e.number(0) // once what was left of the gate's word: a record's age is not known
	e.number(uint64(p.Stop.Decided))
	e.text(p.Why)
	e.file(p.Kept)
	e.number(uint64(len(p.Workflows)))
	for _, f := range p.Workflows {
		f.encode(&e, p.Accepted)
	}
	return e.bytes
}

func (f *Workflow) encode(e *encoder, since node.Instant) {
	e.number(uint64(f.End))
	e.text(cmp.Or(f.Failure, f.Abort))
	e.number(offset(f.Started, since))
	e.number(offset(f.Ended, since))
	e.number(f.Leased)
	e.number(f.Burned)
	e.number(uint64(len(f.Shards)))
	for _, s := range f.Shards {
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

func (s *Shard) encode(e *encoder) {
	for _, n := range []uint64{s.VUs, s.First, uint64(s.Cores), uint64(s.Dispatches), uint64(s.Reruns), uint64(s.End)} {
		e.number(n)
	}
	e.text(s.Why)
	e.fence(s.Floor)
	e.number(uint64(len(s.Failed)))
	for _, id := range s.Failed {
		e.text(string(id))
	}
	e.number(uint64(len(s.Lost)))
	for _, l := range s.Lost {
		e.number(l.Attempt)
		e.text(l.Worker)
		e.text(l.Reason)
		e.number(l.Started)
		e.number(l.OK)
	}
	s.encodeRows(e)
	if s.Kept == nil {
		e.number(0)
		return
	}
	e.number(uint64(s.Kept.State))
	e.text(string(s.Worker))
	e.fence(s.Fence)
	e.file(s.Kept.File)
	e.number(s.Kept.Started)
	e.text(s.Kept.Why)
}

// decodePart reads a record. The subjob has neither its plan nor its results yet.
func Decode(job message.JobID, record []byte, now node.Instant) (*Subjob, error) {
	if len(record) == 0 || record[0] != recordSubjob {
		return nil, ErrRecord
	}
	d := decoder{bytes: record[1:]}
	p := &Subjob{Job: job}
	p.Epoch = d.number()
	p.Fence.JobEpoch = p.Epoch
	p.Gate = node.Addr(d.text())
	p.File = d.file()
	p.Accepted = now.Add(-time.Duration(d.number()))
	p.RunTimeout = time.Duration(d.number())
	d.number()
	p.Stop.Decided = message.JobState(d.number())
	p.Stop.Durable = p.Stop.Decided
	p.Why = d.text()
	p.Kept = d.file()
	for i := range d.count() {
		f := &Workflow{Subjob: p, Index: uint32(i)}
		f.decode(&d, p.Accepted)
		p.Workflows = append(p.Workflows, f)
	}
	if d.bad {
		return nil, ErrRecord
	}
	return p, nil
}

func (f *Workflow) decode(d *decoder, since node.Instant) {
	f.End, f.Failure = message.WorkflowState(d.number()), d.text()
	f.Started, f.Ended = instant(d.number(), since), instant(d.number(), since)
	f.Leased, f.Burned = d.number(), d.number()
	for i := range d.count() {
		s := &Shard{Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Workflow: f.Index, Ordinal: uint32(i)}}
		s.decode(d)
		f.Shards = append(f.Shards, s)
	}
	f.Cut = len(f.Shards) > 0
}

func instant(offset uint64, since node.Instant) node.Instant {
	if offset == 0 {
		return 0
	}
	return since.Add(time.Duration(offset - 1))
}

func (s *Shard) decode(d *decoder) {
	s.VUs, s.First, s.Cores = d.number(), d.number(), uint32(d.number())
	s.Dispatches, s.Reruns, s.End = int(d.number()), int(d.number()), message.WorkflowState(d.number())
	s.Why, s.Floor = d.text(), d.fence()
	for range d.count() {
		s.Failed = append(s.Failed, node.ID(d.text()))
	}
	for range d.count() {
		s.Lost = append(s.Lost, message.LostAttempt{Shard: s.ID, Attempt: d.number(), Worker: d.text(), Reason: d.text(), Started: d.number(), OK: d.number()})
	}
	s.decodeRows(d)
	if state := message.WorkflowState(d.number()); state != message.WorkflowNone {
		s.Kept = &Kept{State: state}
		s.Worker = node.ID(d.text())
		s.Fence, s.Kept.File, s.Kept.Started, s.Kept.Why = d.fence(), d.file(), d.number(), d.text()
	}
}

// FilesOf names the files that a record stands on.
func FilesOf(job message.JobID, record []byte) []message.FileDigest {
	if f, ok := SpillOf(record); ok {
		return []message.FileDigest{f}
	}
	p, err := Decode(job, record, 0)
	if err != nil {
		return nil
	}
	return p.Files()
}

func (p *Subjob) Files() []message.FileDigest {
	list := []message.FileDigest{p.File, p.Kept}
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			if s.Kept != nil {
				list = append(list, s.Kept.File)
			}
		}
	}
	return slices.DeleteFunc(list, func(d message.FileDigest) bool { return d == message.FileDigest{} })
}
