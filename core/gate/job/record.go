package job

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Record is a job in its register. Durations instead of instants: the clock of
// who reads it is another one. Files are named by their digests.
type Record struct {
	Number      uint64         `json:"number"`
	Key         string         `json:"key"`
	Digest      uint64         `json:"digest"`
	Name        string         `json:"name"`
	Named       []string       `json:"named,omitempty"`
	RunTimeout  time.Duration  `json:"run_timeout"`
	Last        Transition     `json:"last"`
	Elapsed     time.Duration  `json:"elapsed"`
	Ran         bool           `json:"ran,omitempty"`
	RunFor      time.Duration  `json:"run_for,omitempty"`
	Closed      []string       `json:"closed,omitempty"`
	Subjobs     []subjobRecord `json:"parts,omitempty"`
	Aborts      []*Abort       `json:"aborts,omitempty"`
	Spec        fileName       `json:"spec,omitzero"`
	Result      fileName       `json:"result,omitzero"`
	ResultBytes int            `json:"result_bytes,omitempty"`
}

type subjobRecord struct {
	Datacenter string           `json:"datacenter"`
	Manager    node.ID          `json:"manager,omitempty"`
	Fence      fenceRecord      `json:"fence"`
	Accepted   bool             `json:"accepted,omitempty"`
	Losses     int              `json:"losses,omitempty"`
	State      message.JobState `json:"state,omitempty"` // of an end that no manager sent
	Error      string           `json:"error,omitempty"`
	Counted    fileName         `json:"counted,omitzero"` // holds the result, until the job's does
}

// fenceRecord is a fence under the names that records on disks have.
type fenceRecord struct {
	JobEpoch    uint64 `json:"Job"`
	SubjobEpoch uint64 `json:"Manager"`
	Attempt     uint64
}

// fileName is a digest as text.
type fileName message.FileDigest

// MarshalText implements encoding.TextMarshaler.
func (n fileName) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, n[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *fileName) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(n)) {
		return fmt.Errorf("%q names no file", text)
	}
	_, err := hex.Decode(n[:], text)
	return err
}

// Record is the job as it is now, for its register.
func (j *Job) Record(now node.Instant) []byte {
	r := Record{
		Number: j.Turn.Number, Key: j.Key, Digest: j.Digest, Name: j.Name, Named: j.Turn.Named, RunTimeout: j.RunTimeout,
		Elapsed: j.ElapsedAt(now), Ran: j.Ran, Closed: j.Closed, Last: j.Last, Aborts: j.Aborts,
		Spec: fileName(j.SpecFile), Result: fileName(j.ResultFile), ResultBytes: j.ResultBytes,
	}
	if n := len(j.pending); n > 0 {
		r.Last = j.pending[n-1]
	}
	if j.Ran {
		r.RunFor = now.Sub(j.Started)
	}
	for _, p := range j.Subjobs {
		pr := subjobRecord{
			Datacenter: p.Datacenter, Manager: p.Manager, Fence: fenceRecord(p.Fence), Losses: p.Losses, Accepted: p.Accepted,
			Counted: fileName(p.File),
		}
		if p.End == Unheard && p.Result != nil {
			pr.State, pr.Error = p.Result.State, p.Result.Error
		}
		r.Subjobs = append(r.Subjobs, pr)
	}
	b, err := json.Marshal(r)
	if err != nil {
		node.Bug("gate: record of job %v: %v", j.ID, err)
	}
	return b
}

// ReadRecord is strict: going on with half a record would forget what clients know.
func ReadRecord(id message.JobID, b []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("read the record of job %v: %w", id, err)
	}
	if r.Last.To == message.JobNone || message.JobOf(r.Key) != id {
		return r, fmt.Errorf("read the record of job %v: it is %v under key %.64q", id, r.Last.To, r.Key)
	}
	return r, nil
}

// Files are those that the record keeps alive.
func (r *Record) Files() []message.FileDigest {
	list := []message.FileDigest{message.FileDigest(r.Spec), message.FileDigest(r.Result)}
	for _, p := range r.Subjobs {
		list = append(list, message.FileDigest(p.Counted))
	}
	return slices.DeleteFunc(list, func(d message.FileDigest) bool { return d == message.FileDigest{} })
}

// FromRecord makes a job of its record; its time stood still since that was written. The
// statuses of an incarnation have numbers above those of the one before.
func FromRecord(id message.JobID, rec *Record, now node.Instant, incarnation uint64) Job {
	j := Job{
		ID: id, Key: rec.Key, Digest: rec.Digest, Name: rec.Name,
		Turn:    queue.Turn{Job: id, Number: rec.Number, Named: rec.Named, Since: now},
		Program: Program{SpecFile: message.FileDigest(rec.Spec), RunTimeout: rec.RunTimeout},
		Course:  Course{State: rec.Last.To, Reason: rec.Last.Reason, Shown: rec.Last.To, Last: rec.Last},
		Times: Times{
			Born: now.Add(-rec.Elapsed), Started: now.Add(-rec.RunFor), Ran: rec.Ran, Cancelled: now, Resend: now,
			Ended: now, Elapsed: rec.Elapsed,
		},
		Outcome:  Outcome{ResultFile: message.FileDigest(rec.Result), ResultBytes: rec.ResultBytes},
		Closed:   rec.Closed,
		Aborts:   rec.Aborts,
		Sequence: incarnation << 32,
	}
	for i := range rec.Subjobs {
		p := loadedSubjob(&rec.Subjobs[i], now)
		p.Renewed, p.Named = now, now // the gate before may have named it, within its own window, which is over
		if j.State.Terminal() && p.Phase != Done {
			p.Phase = Done // its result is in the job's
			if p.Accepted {
				p.End = Counted
			}
		}
		j.Subjobs = append(j.Subjobs, p)
	}
	return j
}

// loadedSubjob waits for its manager to tell of it, if any can know of it.
func loadedSubjob(r *subjobRecord, now node.Instant) *Subjob {
	p := &Subjob{
		Datacenter: r.Datacenter, Manager: r.Manager, Fence: message.Fence(r.Fence), File: message.FileDigest(r.Counted),
		Ever: true, Accepted: r.Accepted, Losses: r.Losses, Marks: Marks{Since: now, Sent: now},
	}
	switch {
	case r.Counted != (fileName{}):
		p.Phase, p.End = Done, Counted
	case r.State.Terminal():
		p.Phase, p.End = Done, Unheard
		p.Result = &message.DatacenterResult{Name: r.Datacenter, State: r.State, Error: r.Error}
	default:
		p.Phase = Adopting // what a majority knows may have been sent
	}
	return p
}
