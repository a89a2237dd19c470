package job

import (
	"encoding/binary"
	"fmt"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
)

// epitaphFormat is the first byte of an epitaph.
const epitaphFormat = 1

// Epitaph is what remains of a job that has ended, in its register's tombstone: how it ended, and
// the digest of its submission. A repeated submission gets the same answer as before.
func (j *Job) Epitaph() []byte {
	return binary.BigEndian.AppendUint64([]byte{epitaphFormat, byte(j.Last.From), byte(j.Last.To)}, j.Digest)
}

func readEpitaph(id message.JobID, b []byte) (r Record, err error) {
	if len(b) != 3+8 || b[0] != epitaphFormat || !message.JobState(b[2]).Terminal() {
		return r, fmt.Errorf("read the epitaph of job %v: %x is none that this version writes", id, b)
	}
	r.Last = record.Transition{From: message.JobState(b[1]), To: message.JobState(b[2])}
	r.Digest = binary.BigEndian.Uint64(b[3:])
	return r, nil
}

// Buried says that of the job only its end and the digest of its submission are known.
func (j *Job) Buried() bool { return j.Key == "" && j.State.Terminal() }

// Buried says that a record is an epitaph: of the job only its end and the digest of its
// submission are known.
func (r *Record) Buried() bool { return r.Key == "" }
