package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Keys of the store:
//
//	job/<id>                the job's record, kept as long as its key
//	spec/<id>               what was submitted, until the job ends
//	part/<id>/<datacenter>  a counted result, until the job ends
//	result/<id>             the job's result
//	datacenter/<name>       a datacenter that was heard of
const (
	jobPrefix        = "job/"
	specPrefix       = "spec/"
	partPrefix       = "part/"
	resultPrefix     = "result/"
	datacenterPrefix = "datacenter/"
)

// jobRecord is a job on disk. Durations instead of instants: the clock of the
// next incarnation is another one.
type jobRecord struct {
	Number     uint64            `json:"number"`
	Key        string            `json:"key"`
	Digest     uint64            `json:"digest"`
	Name       string            `json:"name"`
	Named      []string          `json:"named,omitempty"`
	RunTimeout time.Duration     `json:"run_timeout"`
	Last       transition        `json:"last"`
	Elapsed    time.Duration     `json:"elapsed"`
	Ran        bool              `json:"ran,omitempty"`
	RunFor     time.Duration     `json:"run_for,omitempty"`
	Epochs     map[string]uint64 `json:"epochs,omitempty"`
	Parts      []partRecord      `json:"parts,omitempty"`
}

type partRecord struct {
	Datacenter string           `json:"datacenter"`
	Manager    node.ID          `json:"manager,omitempty"`
	Epoch      uint64           `json:"epoch"`
	Ever       bool             `json:"ever,omitempty"`
	Accepted   bool             `json:"accepted,omitempty"`
	Losses     int              `json:"losses,omitempty"`
	State      message.JobState `json:"state,omitempty"` // of an end that no manager sent
	Error      string           `json:"error,omitempty"`
}

func (j *job) record(now node.Instant) node.Record {
	r := jobRecord{
		Number: j.number, Key: j.key, Digest: j.digest, Name: j.name, Named: j.named, RunTimeout: j.runTimeout,
		Elapsed: j.elapsedAt(now), Ran: j.ran, Epochs: maps.Clone(j.epochs), Last: j.last,
	}
	if n := len(j.untold); n > 0 {
		r.Last = j.untold[n-1]
	}
	if j.ran {
		r.RunFor = now.Sub(j.started)
	}
	for _, p := range j.parts {
		pr := partRecord{
			Datacenter: p.datacenter, Manager: p.manager, Epoch: p.fence.Manager, Losses: p.losses, Accepted: p.accepted,
			Ever: p.ever || p.phase == partSaving,
		}
		if p.unheard && p.result != nil {
			pr.State, pr.Error = p.result.State, p.result.Error
		}
		r.Parts = append(r.Parts, pr)
	}
	b, err := json.Marshal(r)
	if err != nil {
		node.Bug("gate: record of job %v: %v", j.id, err)
	}
	return node.Record{Key: jobPrefix + j.id.String(), Value: b}
}

// encoded is a record that holds a message.
func encoded(key string, m node.Message) node.Record {
	b, err := message.Append(nil, m)
	if err != nil {
		node.Bug("gate: record %s: %v", key, err)
	}
	return node.Record{Key: key, Value: b}
}

func decoded[T message.Body](r node.Record) (T, error) {
	var none T
	b, err := message.Decode(r.Value)
	if err != nil {
		return none, fmt.Errorf("read record %s: %w", r.Key, err)
	}
	m, ok := b.(T)
	if !ok {
		return none, fmt.Errorf("read record %s: holds a %s", r.Key, message.Name(b.Kind()))
	}
	return m, nil
}
