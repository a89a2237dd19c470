package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hyperscale/core/gate/job"
	"hyperscale/core/lease/copies"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/runtime/store"
)

// Audit is what a data directory holds, and what of it is wrong.
type Audit struct {
	store.Inspection
	Faults []string // beyond the store's damages: records that match their checksums and make no sense
	Notes  []string // what a node mends by itself, and says so
}

// Damaged reports that a node cannot rely on the directory.
func (a *Audit) Damaged() bool { return len(a.Damages)+len(a.Faults) > 0 }

// faultsMax bounds a list of faults.
const faultsMax = 100

// Examine reads a stopped node's data directory: first the checksums, then what each record says.
// It changes nothing.
func Examine(dir string) (Audit, error) {
	x := examiner{have: map[message.FileDigest]bool{}, named: map[message.FileDigest]message.JobID{}, fences: map[string]message.Fence{}}
	found, err := store.Read(dir, x.record)
	if err != nil {
		return Audit{}, err
	}
	x.endFile()
	x.audit.Inspection = found
	if len(found.Damages) == 0 && !found.Foreign() {
		x.judge()
	}
	return x.audit, nil
}

type examiner struct {
	audit  Audit
	have   map[message.FileDigest]bool          // files that are whole
	named  map[message.FileDigest]message.JobID // by records of jobs that go on
	fences map[string]message.Fence             // of a worker's shards
	file   pieces
	marks  int // of groups
	others int // registers
}

// pieces are the records of one file, which follow each other.
type pieces struct {
	prefix string
	list   [][]byte
	count  uint32 // that the file has; 0 while the last one is missing
}

func (x *examiner) fault(key, format string, args ...any) {
	if len(x.audit.Faults) < faultsMax {
		x.audit.Faults = append(x.audit.Faults, fmt.Sprintf("record %q %s", key, fmt.Sprintf(format, args...)))
	}
}

func (x *examiner) note(format string, args ...any) {
	x.audit.Notes = append(x.audit.Notes, fmt.Sprintf(format, args...))
}

func (x *examiner) record(key string, value []byte) {
	parts := strings.Split(key, "/")
	switch {
	case parts[0] == "lease" && len(parts) == 3 && parts[2] == "member":
		x.marks++
		var m record.Member
		if err := record.Read(bytes.Clone(value), &m); err != nil {
			x.fault(key, "does not say whose disk it is: %v", err)
		}
	case parts[0] == "lease" && len(parts) == 4 && parts[2] == "register":
		x.register(key, value)
	case parts[0] == "file" && len(parts) == 4:
		x.piece(strings.TrimSuffix(key, parts[3]), parts[3], value)
	case parts[0] == "election" && len(parts) == 2 && len(value) < 8:
		x.fault(key, "has %d bytes, and a vote has 8 at least", len(value))
	case parts[0] == "fence":
		x.fence(strings.TrimPrefix(key, "fence/"), key, value)
	case parts[0] == "result":
		x.result(strings.TrimPrefix(key, "result/"), key, value)
	}
}

func (x *examiner) register(key string, value []byte) {
	x.others++
	r, err := copies.ReadRegister(key, value)
	if err != nil {
		x.fault(key, "is no register: %v", err)
		return
	}
	if b := r.Accepted.Record; !r.Reaped && len(b) > 0 {
		files, err := filesOf(strings.Split(key, "/")[1], r.Job, b)
		if err != nil {
			x.fault(key, "has a record that no role reads: %v", err)
		}
		if !r.Accepted.Released {
			for _, d := range files {
				x.named[d] = r.Job
			}
		}
	}
}

// groupGates is the name of the gates' group; managers' groups have those of their datacenters.
const groupGates = "gates"

// filesOf reads the record of a gate, or of a manager, and lists the files that a gate's needs.
func filesOf(group string, id message.JobID, b []byte) ([]message.FileDigest, error) {
	if group != groupGates {
		if !(subjob.Records{}).Readable(id, b) {
			return nil, record.ErrRecord
		}
		return nil, nil
	}
	rec, err := job.ReadRecord(id, b)
	if err != nil {
		return nil, err
	}
	return rec.Files(), nil
}

// piece takes a record of a file. The last one of a file says how many it has.
func (x *examiner) piece(prefix, name string, value []byte) {
	if prefix != x.file.prefix {
		x.endFile()
		x.file = pieces{prefix: prefix}
	}
	if name != "whole" {
		x.file.list = append(x.file.list, bytes.Clone(value))
	} else if len(value) == 4 {
		x.file.count = binary.BigEndian.Uint32(value)
	}
}

func (x *examiner) endFile() {
	f := x.file
	x.file = pieces{}
	if f.prefix == "" {
		return
	}
	name := strings.Split(f.prefix, "/")[2]
	if f.count == 0 {
		x.note("file %s is not whole: a write was under way, and the next start erases it", name)
		return
	}
	if int(f.count) > len(f.list) {
		x.fault(f.prefix, "has %d pieces of %d", len(f.list), f.count)
		return
	}
	sum := sha256.New()
	for _, b := range f.list[:f.count] {
		_, _ = sum.Write(b) // a hash takes all
	}
	if d := message.FileDigest(sum.Sum(nil)); hex.EncodeToString(d[:]) != name {
		x.fault(f.prefix, "does not match its digest")
	} else {
		x.have[d] = true
	}
}

// fence reads what a worker has promised for a shard.
func (x *examiner) fence(shard, key string, value []byte) {
	body, err := message.Decode(bytes.Clone(value))
	f, ok := body.(*message.ShardAccepted)
	if err != nil || !ok || f.Shard.String() != shard {
		x.fault(key, "is no fence of its shard")
		return
	}
	x.fences[shard] = f.Fence
}

// result reads what a worker keeps until a manager acknowledges it.
func (x *examiner) result(shard, key string, value []byte) {
	n, size := binary.Uvarint(value)
	if size <= 0 || n > uint64(len(value)-size) {
		x.fault(key, "is cut short")
		return
	}
	body, err := message.Decode(bytes.Clone(value[size+int(n):]))
	r, ok := body.(*message.ShardResult)
	switch {
	case err != nil || !ok || r.Shard.String() != shard:
		x.fault(key, "is no result of its shard")
	case x.fences[shard] != r.Fence:
		x.fault(key, "has the fence %v, and the disk's is %v", r.Fence, x.fences[shard])
	}
}

// judge compares the records with each other.
func (x *examiner) judge() {
	if x.others > 0 && x.marks == 0 {
		x.note("registers are here and no member's mark: a join was under way, and the next start erases them")
	}
	missing, jobs := 0, map[message.JobID]bool{}
	for _, d := range slices.SortedFunc(maps.Keys(x.named), func(a, b message.FileDigest) int { return bytes.Compare(a[:], b[:]) }) {
		if !x.have[d] {
			missing++
			jobs[x.named[d]] = true
		}
	}
	if missing > 0 {
		x.note("%d files of %d jobs that go on are not here: the node fetches them from members that have them", missing, len(jobs))
	}
}
