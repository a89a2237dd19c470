package restore

import (
	"fmt"

	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
)

// Job is one that the backup knows.
type Job struct {
	ID      message.JobID
	Name    string
	State   message.JobState // in the backup
	Unknown bool             // it had not ended: what it did after the backup is not known
	Files   []message.FileDigest
}

// Mark marks the records of jobs that had not ended, with the backup that they come from, and
// lists the jobs. Registers of jobs that are only remembered for their keys are not listed.
func Mark(registers []message.LeaseRegister, from string) ([]Job, error) {
	var jobs []Job
	for i := range registers {
		r := &registers[i]
		if r.Reaped || len(r.Accepted.Record) == 0 {
			continue
		}
		rec, err := job.ReadRecord(r.Job, r.Accepted.Record)
		if err != nil {
			return nil, fmt.Errorf("a register of the backup: %w", err)
		}
		j := Job{ID: r.Job, Name: rec.Name, State: rec.Last.To, Unknown: !rec.Last.To.Terminal(), Files: rec.Files()}
		if j.Unknown {
			rec.Behind.Restored = from
			r.Accepted.Record = record.Append(nil, &rec.Job)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}
