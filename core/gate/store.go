package gate

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/ledger"
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

// store persists: records and files of jobs on a majority, a gate's own on its disk. What
// follows a write is the ownership's.
type store struct {
	memory
	ledger *ledger.Ledger[tag]

	writeID     node.WriteID // of the newest write of its own
	writes      int          // of its own that are under way
	storeFailed bool
}

// act is what a gate does once a majority has a record, or has brought a file.
type act uint8

// Acts that follow a write, and those that follow a fetch.
const (
	actNone    act = iota
	actSend        // dispatch subjobs
	actCancel      // cancel all subjobs
	actAbort       // abort a workflow
	actRelease     // let the register of an ended job go
	actLoad        // go on with a job that is taken over
	actShow        // show a result to watchers
)

// tag says what follows a request to the ledger, beside what follows each.
type tag struct {
	act     act
	job     *entry
	upTo    int                // transitions that the record holds
	counted []*job.Subjob      // whose results the record makes durable
	send    []*job.Subjob      // of actSend
	abort   *job.Abort         // of actAbort
	result  *message.JobResult // of actRelease
	subjob  *job.Subjob        // of actLoad: whose result the file holds; nil for the program
}

// save persists the job's record as it is now, behind the files that it newly names.
func (m *store) save(env node.Env, j *entry, t tag, files ...[]byte) {
	t.job, t.upTo = j, j.Decided()
	m.ledger.Propose(env, j.ID, j.Record(env.Now()), files, t)
}

// filesInUse lists what a record names here. The rest can go: programs of jobs that have
// ended, results that are too old, files of acquisitions that came to nothing.
func (m *store) filesInUse(env node.Env) map[message.FileDigest]bool {
	inUse := map[message.FileDigest]bool{}
	for _, id := range m.group.Leases.Known() {
		if j := m.jobs[id]; j != nil && j.Ready && j.Shown.Terminal() {
			inUse[j.ResultFile] = true
			continue
		}
		seen, ok := m.group.Leases.Seen(env.Now(), id)
		if !ok {
			continue
		}
		if rec, err := job.ReadRecord(id, seen.Record); err == nil {
			for _, d := range rec.Files() {
				inUse[d] = true
			}
		}
	}
	m.ledger.Use(inUse)
	return inUse
}

// remember writes a record of this gate's own. It is no job's: it may be lost.
func (m *store) remember(env node.Env, key string, value []byte) {
	m.writeID++
	env.Store().Put([]node.Record{{Key: key, Value: value}}, m.writeID)
	m.writes++
}

// onStored counts a write of this gate's own.
func (m *store) onStored(env node.Env, in *node.Input) {
	m.writes--
	if in.Err != nil {
		env.Emit(event.StoreFailed{What: "remember a datacenter, or an order to drain", Err: in.Err.Error()})
	}
}

// drainingKey is there while an operator wants this gate empty: a restart changes
// nothing of that.
const drainingKey = "draining"

func (m *store) rememberDraining(env node.Env) {
	var value []byte
	if m.draining {
		value = []byte{1}
	}
	m.remember(env, drainingKey, value)
}

func (m *base) retryLater(env node.Env) {
	env.SetTimer(node.Key(node.PartGate, node.GateRetry), m.config.StoreRetry)
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
