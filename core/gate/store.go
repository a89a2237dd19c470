package gate

import (
	"encoding/binary"
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
)

// Keys of this gate's own store, next to those of the registers and the files:
//
//	datacenter/<name>  a datacenter that this gate knows, and for how long it was without managers
//	probe              tells whether the disk works
const (
	datacenterPrefix = "datacenter/"
	probeKey         = "probe"
)

// detailMax bounds the texts of a record, so that the record fits a register.
const detailMax = 256

// store persists: records and files of jobs on a majority, a gate's own notes on its disk.
// Layer ownership performs what follows a write.
type store struct {
	memory
	ledger *ledger.Ledger[tag]

	writeID     node.WriteID // of this gate's newest own write
	writes      int          // this gate's own writes that are under way
	storeFailed bool
}

// act is what a gate does once a majority has a record, or once a file has arrived.
type act uint8

// Acts after a write; actLoad, actShow and actReplay come after a fetch.
const (
	actNone    act = iota
	actSend        // dispatch subjobs
	actCancel      // cancel all subjobs
	actAbort       // abort a workflow
	actRelease     // release the register of an ended job
	actLoad        // continue the adoption of a job
	actShow        // send a result to watchers
	actReplay      // submit the program of a dead letter
	actRows        // bring a batch of rows nearer to its sink
)

// tag names what follows a request to the ledger.
type tag struct {
	act     act
	job     *entry
	upTo    int                // number of transitions in the record
	ends    int                // number of ended workflows in the record
	counted []*job.Subjob      // whose results the record makes durable
	givenUp []*job.Subjob      // whose ends without a result the record makes durable
	send    []*job.Subjob      // of actSend
	abort   *job.Abort         // of actAbort
	result  *message.JobResult // of actRelease
	subjob  *job.Subjob        // of actLoad: whose result the file holds; nil for the program
	ask     *audience.Ask      // of actReplay
	stream  *output.Stream     // of actRows; nil for the result of an ended job
	stage   output.Stage       // of that stream, when the request was made
}

// save persists the job's current record, after the files that the record newly names.
func (m *store) save(env node.Env, j *entry, t tag, files ...[]byte) {
	t.job, t.upTo, t.ends, t.givenUp = j, j.Decided(), j.Ends.Len(), job.GivenUp(j.Subjobs)
	m.ledger.Propose(env, j.ID, j.Record(env.Now()), files, t)
}

// filesInUse lists the files that records at this gate name. The gate deletes the rest:
// programs of ended jobs that are no dead letters, old results, and files of failed acquisitions.
func (m *store) filesInUse(env node.Env) map[message.FileDigest]bool {
	inUse := map[message.FileDigest]bool{}
	for _, id := range m.group.Leases.Known() {
		if j := m.jobs[id]; j != nil && j.Ready {
			for _, d := range j.Rows.Files() {
				inUse[d] = true
			}
		}
		if j := m.jobs[id]; j != nil && j.Ready && j.Shown.Terminal() {
			inUse[j.ResultFile] = true
			inUse[j.Letter.Program] = true
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

// remember writes a note of this gate's own. The gate may lose it without harm to a job.
func (m *store) remember(env node.Env, key string, value []byte) {
	m.writeID++
	env.Store().Put([]node.Record{{Key: key, Value: value}}, m.writeID)
	m.writes++
}

// onStored handles the end of a write of this gate's own.
func (m *store) onStored(env node.Env, in *node.Input) {
	m.writes--
	if in.Err != nil {
		env.Emit(event.StoreFailed{What: "remember a datacenter, or an order to drain", Err: in.Err.Error()})
	}
}

// silence reads how long a datacenter was without managers, and silenceValue writes it. Without
// it, a gate that restarts now and then would know the datacenter for ever.
func silence(value []byte) time.Duration {
	if len(value) != 8 {
		return 0 // just heard, or by an older version
	}
	return max(0, time.Duration(binary.BigEndian.Uint64(value)))
}

func silenceValue(d time.Duration) []byte {
	if d <= 0 {
		return []byte{1}
	}
	return binary.BigEndian.AppendUint64(nil, uint64(d))
}

// drainingKey exists while an operator drains this gate, so that the order survives a restart.
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

// encoded returns the file that holds a message.
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
