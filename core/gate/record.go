package gate

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Keys of this gate's own store, beside those of the registers and the files:
//
//	datacenter/<name>  a datacenter that was heard of
//	probe              tells whether the disk is well
const (
	datacenterPrefix = "datacenter/"
	probeKey         = "probe"
)

// detailMax bounds the sentences of a record, so that it fits a register.
const detailMax = 256

// jobRecord is a job in its register. Durations instead of instants: the clock of
// who reads it is another one. Files are named by their digests.
type jobRecord struct {
	Number      uint64         `json:"number"`
	Key         string         `json:"key"`
	Digest      uint64         `json:"digest"`
	Name        string         `json:"name"`
	Named       []string       `json:"named,omitempty"`
	RunTimeout  time.Duration  `json:"run_timeout"`
	Last        transition     `json:"last"`
	Elapsed     time.Duration  `json:"elapsed"`
	Ran         bool           `json:"ran,omitempty"`
	RunFor      time.Duration  `json:"run_for,omitempty"`
	Closed      []string       `json:"closed,omitempty"`
	Subjobs     []subjobRecord `json:"parts,omitempty"`
	Aborts      []*abort       `json:"aborts,omitempty"`
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

// record is the job as it is now, for its register.
func (j *job) record(now node.Instant) []byte {
	r := jobRecord{
		Number: j.turn.Number, Key: j.key, Digest: j.digest, Name: j.name, Named: j.turn.Named, RunTimeout: j.runTimeout,
		Elapsed: j.elapsedAt(now), Ran: j.ran, Closed: j.closed, Last: j.last, Aborts: j.aborts,
		Spec: fileName(j.specFile), Result: fileName(j.resultFile), ResultBytes: j.resultBytes,
	}
	if n := len(j.untold); n > 0 {
		r.Last = j.untold[n-1]
	}
	if j.ran {
		r.RunFor = now.Sub(j.started)
	}
	for _, p := range j.subjobs {
		pr := subjobRecord{
			Datacenter: p.datacenter, Manager: p.manager, Fence: fenceRecord(p.fence), Losses: p.losses, Accepted: p.accepted,
			Counted: fileName(p.file),
		}
		if p.unheard && p.result != nil {
			pr.State, pr.Error = p.result.State, p.result.Error
		}
		r.Subjobs = append(r.Subjobs, pr)
	}
	b, err := json.Marshal(r)
	if err != nil {
		node.Bug("gate: record of job %v: %v", j.id, err)
	}
	return b
}

// readRecord is strict: going on with half a record would forget what was told.
func readRecord(id message.JobID, b []byte) (jobRecord, error) {
	var r jobRecord
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("read the record of job %v: %w", id, err)
	}
	if r.Last.To == message.JobNone || message.JobOf(r.Key) != id {
		return r, fmt.Errorf("read the record of job %v: it is %v under key %.64q", id, r.Last.To, r.Key)
	}
	return r, nil
}

// files are those that the record keeps alive.
func (r *jobRecord) files() []message.FileDigest {
	list := []message.FileDigest{message.FileDigest(r.Spec), message.FileDigest(r.Result)}
	for _, p := range r.Subjobs {
		list = append(list, message.FileDigest(p.Counted))
	}
	return slices.DeleteFunc(list, func(d message.FileDigest) bool { return d == message.FileDigest{} })
}

// encoded is a file that holds a message.
func encoded(m node.Message) []byte {
	b, err := message.Append(nil, m)
	if err != nil {
		node.Bug("gate: encode %s: %v", message.Name(m.Kind()), err)
	}
	return b
}

func decoded[T message.Body](bytes []byte) (T, error) {
	var none T
	b, err := message.Decode(bytes)
	if err != nil {
		return none, err
	}
	m, ok := b.(T)
	if !ok {
		return none, fmt.Errorf("it holds a %s", message.Name(b.Kind()))
	}
	return m, nil
}

// shortened keeps a sentence of somebody else within what a record takes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
