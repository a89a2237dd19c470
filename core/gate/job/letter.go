package job

import (
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
)

// Letter is what makes an ended job a dead letter: its program, which outlives the job. Zero: the
// job is none.
type Letter struct{ record.Letter }

// Is says that the job is a dead letter.
func (l *Letter) Is() bool { return l.Program != message.FileDigest{} }

// Bury makes an ending job whose program is here a dead letter: the file outlives the job.
func Bury(j *Job) {
	if !j.Dead || j.SpecFile == (message.FileDigest{}) || j.SpecSize == 0 {
		return
	}
	j.Letter.Program, j.Letter.Bytes = j.SpecFile, uint64(j.SpecSize)
}

// clustered says that every subjob that did not complete failed, and failed of the cluster. Then the
// same program may succeed another time.
func clustered(subjobs []*Subjob) bool {
	failed := false
	for _, p := range subjobs {
		switch {
		case p.Result.State == message.JobCompleted:
		case p.Result.State == message.JobFailed && p.Fault.Cluster():
			failed = true
		default:
			return false
		}
	}
	return failed
}

// reasonMax bounds the reason of a letter in a list.
const reasonMax = 256

// Listed describes a dead letter that ended so long ago.
func Listed(j *Job, ago time.Duration) message.LetterInfo {
	return listed(j.ID, j.Key, j.Last.Reason, &j.Letter.Letter, ago)
}

// RecordLetter describes a dead letter by its record alone, which was written that long ago. It
// returns false for other jobs.
func RecordLetter(id message.JobID, record []byte, ago time.Duration) (message.LetterInfo, bool) {
	rec, err := ReadRecord(id, record)
	if l := (Letter{rec.Behind.Letter}); err != nil || !rec.Last.To.Terminal() || !l.Is() {
		return message.LetterInfo{}, false
	}
	return listed(id, rec.Key, rec.Last.Reason, &rec.Behind.Letter, ago), true
}

func listed(id message.JobID, key, reason string, l *record.Letter, ago time.Duration) message.LetterInfo {
	if len(reason) > reasonMax {
		reason = strings.ToValidUTF8(reason[:reasonMax], "")
	}
	return message.LetterInfo{Job: id, Key: key, Reason: reason, Ended: ago.Round(time.Microsecond), Program: l.Program, Bytes: l.Bytes}
}
