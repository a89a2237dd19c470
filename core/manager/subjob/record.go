package subjob

import (
	"cmp"
	"maps"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// A register's record says what the next holder needs to continue a subjob: the gate, the
// files, the decided end, the cut of the workflows, and what has ended. It does not say what
// runs: workers report that.

// ErrRecord is the error for a record that cannot be read.
var ErrRecord = record.ErrRecord

// ErrForeign is the error for a file that a record names and that is of another job or shard.
var ErrForeign = record.ErrForeign

// Spilled is a record that names the file with the real record.
func Spilled(d message.FileDigest) []byte { return record.Append(nil, &record.Subjob{Spilled: d}) }

// SpillOf returns the file with the real record, if the record names one.
func SpillOf(b []byte) (message.FileDigest, bool) {
	var r record.Subjob
	err := record.Read(b, &r)
	return r.Spilled, err == nil && r.Spilled != message.FileDigest{}
}

// Records reads the records of managers for their registers.
type Records struct{}

// Readable implements lease.Records.
func (Records) Readable(_ message.JobID, b []byte) bool {
	var r record.Subjob
	return record.Read(b, &r) == nil
}

// Record encodes what a later holder needs to continue the subjob.
func (p *Subjob) Record(now node.Instant) []byte {
	r := record.Subjob{
		Epoch: max(p.Epoch, p.Fence.JobEpoch), Gate: p.Gate, File: p.File, Age: max(0, now.Sub(p.Accepted)), RunTimeout: p.RunTimeout,
		Stop: p.Stop.Decided, Stopped: offset(p.Stop.Since, p.Accepted), Over: p.Stop.Over, Why: p.Why, Result: p.Kept, Files: p.Newer.Files, Unknown: p.Newer.Unknown,
	}
	for _, f := range p.Workflows {
		r.Workflows = append(r.Workflows, f.record(p.Accepted))
	}
	for i := range p.Counters {
		r.Counters = append(r.Counters, record.Counter{Leased: p.Counters[i].Leased, Unknown: p.Counters[i].unknown})
	}
	return record.Append(nil, &r)
}

func (f *Workflow) record(since node.Instant) record.Workflow {
	r := record.Workflow{
		End: f.End, Failure: cmp.Or(f.Failure, f.Abort.Why), Client: f.Client || f.Failure == "" && f.Abort.Client, Started: offset(f.Started, since), Ended: offset(f.Ended, since),
		Leased: f.Leased, Burned: f.Burned, Unknown: f.unknown,
	}
	for _, s := range f.Shards {
		r.Shards = append(r.Shards, s.record())
	}
	return r
}

func offset(i, since node.Instant) record.Offset {
	if i == 0 {
		return 0
	}
	return record.OffsetOf(i.Sub(since))
}

func (s *Shard) record() record.Shard {
	r := record.Shard{
		VUs: s.VUs, First: s.First, Cores: s.Cores, Tenancy: s.Tenancy, Dispatches: uint64(s.Dispatches), Reruns: uint64(s.Reruns), End: s.End,
		Why: s.Why, Floor: s.Floor, Leased: s.Leased, Idle: s.Idle, Origin: offset(s.Origin, s.Workflow.Subjob.Accepted), Unknown: s.unknown,
	}
	for _, id := range s.Failed {
		r.Failed = append(r.Failed, string(id))
	}
	for _, l := range s.Lost {
		r.Lost = append(r.Lost, l.record())
	}
	for _, to := range slices.SortedFunc(maps.Keys(s.Rows), ByOf) {
		l := s.Rows[to]
		r.Rows = append(r.Rows, record.Rows{Core: to.Core, Ask: l.Ask, First: l.First, Count: l.Count, Of: to.Of, Unknown: l.unknown})
	}
	r.Waits = s.waits()
	if k := s.Kept; k != nil {
		r.Kept = record.Kept{State: k.State, Worker: s.Worker, Fence: s.Fence, File: k.File, Started: k.Started, Why: k.Why, Unknown: k.unknown}
	}
	return r
}

// Decode reads a record. The subjob has neither its plan nor its results yet.
func Decode(job message.JobID, b []byte, now node.Instant) (*Subjob, error) {
	var r record.Subjob
	if err := record.Read(b, &r); err != nil {
		return nil, err
	}
	p := &Subjob{
		Job: job, Epoch: r.Epoch, Fence: message.Fence{JobEpoch: r.Epoch}, Gate: r.Gate, File: r.File, Accepted: now.Add(-r.Age),
		RunTimeout: r.RunTimeout, Stop: Pending{Decided: r.Stop, Durable: r.Stop, Over: r.Over, Sealed: r.Over}, Why: r.Why, Ending: Ending{Kept: r.Result},
		Newer: Newer{r.Files, r.Unknown},
	}
	p.Stop.Since = instant(r.Stopped, p.Accepted)
	for i := range r.Workflows {
		p.Workflows = append(p.Workflows, p.workflow(uint32(i), &r.Workflows[i]))
	}
	for i := range r.Counters {
		p.Counters = append(p.Counters, Counter{Leased: r.Counters[i].Leased, unknown: r.Counters[i].Unknown})
	}
	return p, nil
}

func (p *Subjob) workflow(index uint32, r *record.Workflow) *Workflow {
	f := &Workflow{
		Subjob: p, Index: index, End: r.End, Failure: r.Failure, Client: r.Client, Times: Times{Started: instant(r.Started, p.Accepted), Ended: instant(r.Ended, p.Accepted)},
		Leased: r.Leased, Burned: r.Burned, Cut: len(r.Shards) > 0, unknown: r.Unknown,
	}
	for i := range r.Shards {
		f.Shards = append(f.Shards, f.shard(uint32(i), &r.Shards[i]))
	}
	return f
}

func instant(o record.Offset, since node.Instant) node.Instant {
	age, ever := o.Since()
	if !ever {
		return 0
	}
	return since.Add(age)
}

func (f *Workflow) shard(ordinal uint32, r *record.Shard) *Shard {
	s := &Shard{
		Workflow: f, ID: message.ShardID{Job: f.Subjob.Job, Workflow: f.Index, Ordinal: ordinal},
		Extent: Extent{VUs: r.VUs, First: r.First, Cores: r.Cores, Tenancy: r.Tenancy}, Floor: r.Floor,
		Retries: Retries{Dispatches: int(r.Dispatches), Reruns: int(r.Reruns)}, Verdict: Verdict{Why: r.Why, End: r.End},
		RowLease: RowLease{Leased: r.Leased}, Contact: Contact{Idle: r.Idle, Origin: instant(r.Origin, f.Subjob.Accepted)}, unknown: r.Unknown,
	}
	for _, id := range r.Failed {
		s.Failed = append(s.Failed, node.ID(id))
	}
	for _, l := range r.Lost {
		s.Lost = append(s.Lost, s.lost(&l))
	}
	if len(r.Rows) > 0 {
		s.Rows = map[Lessee]*Leased{}
	}
	for _, l := range r.Rows {
		s.Rows[Lessee{Of: l.Of, Core: l.Core}] = &Leased{Ask: l.Ask, First: l.First, Count: l.Count, Known: true, unknown: l.Unknown}
	}
	s.resume(r.Waits)
	if k := &r.Kept; k.State != message.WorkflowNone {
		s.Worker, s.Fence = k.Worker, k.Fence
		s.Kept = &Kept{File: k.File, State: k.State, Started: k.Started, Why: k.Why, unknown: k.Unknown}
	}
	return s
}

// FilesOf returns the files that a record needs. If spilled, that is the file with the record
// itself.
func FilesOf(b []byte) (list []message.FileDigest, spilled bool) {
	var r record.Subjob
	if err := record.Read(b, &r); err != nil {
		return nil, false
	}
	if r.Spilled != (message.FileDigest{}) {
		return []message.FileDigest{r.Spilled}, true
	}
	list = append([]message.FileDigest{r.File, r.Result}, r.Files...)
	for i := range r.Workflows {
		for k := range r.Workflows[i].Shards {
			s := &r.Workflows[i].Shards[k]
			for n := range s.Lost {
				list = append(list, s.Lost[n].File)
			}
			if s.Kept.State != message.WorkflowNone {
				list = append(list, s.Kept.File)
			}
		}
	}
	return named(list), false
}

// named drops digests that name no file.
func named(list []message.FileDigest) []message.FileDigest {
	return slices.DeleteFunc(list, func(d message.FileDigest) bool { return d == message.FileDigest{} })
}

// Files are the files that the subjob needs, including those of a newer version's fields.
func (p *Subjob) Files() []message.FileDigest {
	list := append([]message.FileDigest{p.File, p.Kept}, p.Newer.Files...)
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			for _, l := range s.Lost {
				list = append(list, l.File)
			}
			if s.Kept != nil {
				list = append(list, s.Kept.File)
			}
		}
	}
	return named(list)
}

// Newer holds fields that a manager of a newer version wrote into the subjob's record. This
// manager writes them back for the next one that knows them.
type Newer struct {
	Files   []message.FileDigest // files that those fields name
	Unknown record.Unknown
}
