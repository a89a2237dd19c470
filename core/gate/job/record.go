package job

import (
	"fmt"
	"slices"

	"hyperscale/core/gate/queue"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// Record is a job as its register stores it.
type Record struct{ record.Job }

// Record encodes the job's current state for its register.
func (j *Job) Record(now node.Instant) []byte {
	r := record.Job{
		Number: j.Turn.Number, Key: j.Key, Digest: j.Digest, Name: j.Name, Named: j.Turn.Named, RunTimeout: j.RunTimeout,
		Elapsed: j.ElapsedAt(now), Ran: j.Ran, Closed: j.Closed, Last: j.Last.record(j.lastUnknown), Spec: j.SpecFile, Result: j.ResultFile,
		ResultBytes: uint64(j.ResultBytes), Now: j.Now, Unknown: j.Newer.Unknown,
		Behind: record.Behind{Ended: j.Ends.list, Freed: j.Freed, Letter: j.Letter.Letter, Owner: j.Owner, Unknown: j.behindUnknown},
	}
	r.Behind.Restored, r.Behind.Takeovers, r.Behind.Outputs = j.Restored, j.Takeovers, j.Rows.record()
	r.Files = slices.Concat(j.Newer.Files, named(&r.Behind.Outputs))
	if n := len(j.pending); n > 0 {
		r.Last = j.pending[n-1].record(nil)
	}
	if j.Ran {
		r.RunFor = now.Sub(j.Started)
	}
	for _, p := range j.Subjobs {
		r.Subjobs = append(r.Subjobs, p.record())
	}
	for _, a := range j.Aborts {
		r.Aborts = append(r.Aborts, record.Abort{Workflow: a.Workflow, Condition: a.Condition, Value: a.Value, By: a.By, Why: a.Why, Unknown: a.unknown})
	}
	for _, l := range j.Behind {
		r.Behind.Left = append(r.Behind.Left, l.Left)
	}
	return record.Append(nil, &r)
}

func (t Transition) record(unknown record.Unknown) record.Transition {
	return record.Transition{From: t.From, To: t.To, Reason: t.Reason, Unknown: unknown}
}

func (p *Subjob) record() record.JobSubjob {
	r := record.JobSubjob{
		Datacenter: p.Datacenter, Manager: p.Manager, Fence: p.Fence, Losses: uint64(p.Losses), Accepted: p.Accepted,
		Counted: p.File, Unknown: p.unknown,
	}
	if p.End == Unheard && p.Result != nil {
		r.State, r.Error, r.Fault = p.Result.State, p.Result.Error, p.Fault
	}
	return r
}

// ReadRecord rejects every fault: a gate that adopted half a record would lose what clients
// know.
func ReadRecord(id message.JobID, b []byte) (Record, error) {
	var r Record
	if text, ok := lease.Epitaph(b); ok {
		return readEpitaph(id, text)
	}
	if err := record.Read(b, &r.Job); err != nil {
		return r, fmt.Errorf("read the record of job %v: %w", id, err)
	}
	if r.Last.To == message.JobNone || message.JobOf(r.Key) != id {
		return r, fmt.Errorf("read the record of job %v: it is %v under key %.64q", id, r.Last.To, r.Key)
	}
	return r, nil
}

// Records reads the records of gates for their registers.
type Records struct{}

// Readable implements lease.Records.
func (Records) Readable(id message.JobID, b []byte) bool {
	_, err := ReadRecord(id, b)
	return err == nil
}

// Files lists the files that the record needs, including those of a newer version's fields.
func (r *Record) Files() []message.FileDigest {
	list := append([]message.FileDigest{r.Spec, r.Result, r.Behind.Letter.Program}, r.Job.Files...)
	for _, p := range r.Subjobs {
		list = append(list, p.Counted)
	}
	return slices.DeleteFunc(list, func(d message.FileDigest) bool { return d == message.FileDigest{} })
}

// FromRecord rebuilds a job from its record, which was written then.
// Statuses of a new incarnation get higher numbers than those of the former.
func FromRecord(id message.JobID, rec *Record, now, written node.Instant, incarnation uint64) Job {
	rows, files := rowsOf(id, rec)
	last := Transition{From: rec.Last.From, To: rec.Last.To, Reason: rec.Last.Reason}
	j := Job{
		ID: id, Key: rec.Key, Digest: rec.Digest, Name: rec.Name,
		Turn:    queue.Turn{Job: id, Number: rec.Number, Named: rec.Named, Since: now},
		Program: Program{SpecFile: rec.Spec, RunTimeout: rec.RunTimeout, Owner: rec.Behind.Owner},
		Course:  Course{State: last.To, Reason: last.Reason, Shown: last.To, Last: last, Restored: rec.Behind.Restored, lastUnknown: rec.Last.Unknown},
		Times: Times{
			Born: written.Add(-rec.Elapsed), Started: written.Add(-rec.RunFor), Ran: rec.Ran, Cancelled: now, Resend: now,
			Ended: now, Elapsed: rec.Elapsed, Now: rec.Now,
		},
		Outcome: Outcome{
			Ends: Ends{rec.Behind.Ended, len(rec.Behind.Ended)}, ResultFile: rec.Result, ResultBytes: int(rec.ResultBytes),
			Freed: rec.Behind.Freed, Letter: Letter{rec.Behind.Letter}, behindUnknown: rec.Behind.Unknown, Rows: rows,
		},
		Newer:    Newer{files, rec.Unknown},
		Closed:   rec.Closed,
		Sequence: incarnation << 32,
	}
	j.Takeovers = rec.Behind.Takeovers
	for _, a := range rec.Aborts {
		j.Aborts = append(j.Aborts, &Abort{Workflow: a.Workflow, Condition: a.Condition, Value: a.Value, By: a.By, Why: a.Why, unknown: a.Unknown})
	}
	for i := range rec.Behind.Left {
		j.Behind = append(j.Behind, &Left{rec.Behind.Left[i]})
	}
	for i := range rec.Subjobs {
		p := loadedSubjob(&rec.Subjobs[i], now)
		p.Renewed, p.Named = now, now // the former gate may have named it until its lease ended, and that is over now
		if j.State.Terminal() && p.Phase != Done {
			p.Phase = Done // the job's result contains its result
			if p.Accepted {
				p.End = Counted
			}
		}
		j.Subjobs = append(j.Subjobs, p)
	}
	return j
}

// loadedSubjob lets the subjob wait for its manager to list it, if a manager can have it.
func loadedSubjob(r *record.JobSubjob, now node.Instant) *Subjob {
	p := &Subjob{
		Datacenter: r.Datacenter, Manager: r.Manager, Fence: r.Fence, File: r.Counted, Ever: true, Accepted: r.Accepted,
		Losses: int(r.Losses), Marks: Marks{Since: now, Sent: now}, unknown: r.Unknown,
	}
	switch {
	case r.State.Terminal():
		p.Phase, p.End, p.Told = Done, Unheard, true
		p.Result, p.Fault = &message.DatacenterResult{Name: r.Datacenter, State: r.State, Error: r.Error}, r.Fault
	case r.Counted != (message.FileDigest{}):
		p.Phase, p.End = Done, Counted
	default:
		p.Phase = Adopting // a gate may have sent what a majority has
	}
	return p
}
