package gate

import (
	"crypto/sha256"
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/gate/job"
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
	ticket  uint64 // of the newest update, file or read
	kept    map[uint64]keeping
	fetches map[uint64]fetch
	unkept  []keeping // files that were refused, to be tried again
	unread  []fetch   // and those that nobody had

	token       node.Token // of the newest write of its own
	writes      int        // of its own that are under way
	storeFailed bool
}

// put is one write to a job's register and what follows it: first the files that
// it names go to a majority, then the record does, then anybody is told.
type put struct {
	job     *entry
	upTo    int // transitions that the record holds
	record  []byte
	files   [][]byte // that the record newly names
	missing int      // of them that no majority has
	ticket  uint64   // of the update, 0 until it is sent
	then    tag
}

// act is what a gate does once a majority has a record.
type act uint8

// Acts that follow a write.
const (
	actNone    act = iota
	actSend        // dispatch subjobs
	actCancel      // cancel all subjobs
	actAbort       // abort a workflow
	actRelease     // let the register of an ended job go
)

// tag says what follows a write, beside what follows each.
type tag struct {
	act     act
	send    []*job.Subjob      // of actSend
	abort   *job.Abort         // of actAbort
	result  *message.JobResult // of actRelease
	counted []*job.Subjob      // whose results the write makes durable
}

// keeping is a file on its way, for the write that waits for it.
type keeping struct {
	put   *put
	bytes []byte
}

// fetch is a file that a job cannot go on without, or a result that clients wait
// for.
type fetch struct {
	job    *entry
	subjob *job.Subjob // whose counted result it is; nil for the program or the job's result
	file   message.FileDigest
	gone   int // rounds in which every gate has said that it does not have it
}

// goneMax is after how many such rounds a file is given up: a majority of the disks
// that kept it is lost.
const goneMax = 10

// save writes the job's record as it is now. Records go out in the order of the
// calls, so that none names a file of a later one.
func (m *store) save(env node.Env, p *put) {
	j := p.job
	p.upTo = j.Decided()
	p.record = j.Record(env.Now())
	p.missing = len(p.files)
	j.open = append(j.open, p)
	for _, b := range p.files {
		m.keep(env, p, b)
	}
	m.issue(env, j)
}

// keep sends a file to a majority, for a write that names it.
func (m *store) keep(env node.Env, p *put, b []byte) {
	m.ticket++
	m.kept[m.ticket] = keeping{p, b}
	m.group.Files.Keep(env, b, m.ticket)
}

// keepAgain keeps the files of a write that waited too long for an earlier one: the
// fellows that have them may be about to sweep them.
func (m *store) keepAgain(env node.Env, p *put) bool {
	for _, b := range p.files {
		if m.group.Files.Stale(env, fileOf(b)) {
			env.Emit(event.Reached{What: "gate/kept-again"})
			p.missing++
			m.keep(env, p, b)
		}
	}
	return p.missing > 0
}

// issue sends the writes whose files, and those of all before them, are kept.
func (m *store) issue(env node.Env, j *entry) {
	for _, p := range j.open {
		switch {
		case p.ticket != 0:
			continue
		case p.missing > 0, m.keepAgain(env, p):
			return
		}
		m.ticket++
		p.ticket = m.ticket
		if !j.Ready {
			m.acquire(env, j, p.record)
			return
		}
		m.group.Leases.Update(env, j.ID, p.record, p.ticket)
	}
}

func (m *store) fetch(env node.Env, f fetch) {
	m.ticket++
	m.fetches[m.ticket] = f
	m.group.Files.Fetch(env, f.file, m.ticket)
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
	//lint:orderfree a set, and each entry goes or stays by itself
	for ticket, k := range m.kept {
		if m.jobs[k.put.job.ID] != k.put.job { // refused, or another gate's by now
			delete(m.kept, ticket)
			continue
		}
		inUse[fileOf(k.bytes)] = true
	}
	//lint:orderfree a set
	for _, j := range m.jobs {
		for _, p := range j.open {
			for _, b := range p.files {
				inUse[fileOf(b)] = true
			}
		}
	}
	return inUse
}

// remember writes a record of this gate's own. It is no job's: it may be lost.
func (m *store) remember(env node.Env, key string, value []byte) {
	m.token++
	env.Store().Put([]node.Record{{Key: key, Value: value}}, m.token)
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

func fileOf(b []byte) message.FileDigest { return sha256.Sum256(b) }
