package job

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Line is the job as a list shows it; held says whether this gate may act for it.
func (j *Job) Line(now node.Instant, held bool) message.JobInfo {
	info := message.JobInfo{
		Job: j.ID, Name: j.Name, State: j.Shown, Position: j.Turn.Position(), Age: now.Sub(j.Born).Round(time.Microsecond),
		Token: j.Token, Datacenters: j.Turn.Named,
	}
	if j.Spec != nil {
		info.Ranked, info.Rank = true, j.Spec.Rank
	}
	if len(j.Subjobs) > 0 {
		info.Datacenters = nil
	}
	for _, p := range j.Subjobs {
		info.Datacenters = append(info.Datacenters, p.Datacenter)
	}
	switch {
	case j.Shown.Terminal():
		info.Source = message.SourceEnd
	case held:
		info.Source = message.SourceOwner
	default:
		return info // a former owner's figures are old
	}
	info.Started, info.Failed, info.Counted = j.counts()
	return info
}

// RecordLine is a job as a list shows it that knows its record alone, which was written under a
// token that long ago. It lists a job even if this version cannot read its record.
func RecordLine(id message.JobID, record []byte, token message.LeaseToken, released bool, ago time.Duration) message.JobInfo {
	info := message.JobInfo{Job: id, Token: token}
	rec, err := ReadRecord(id, record)
	if err != nil {
		return info
	}
	info.Name, info.State, info.Datacenters, info.Age = rec.Name, rec.Last.To, rec.Named, (rec.Elapsed + ago).Round(time.Microsecond)
	if released && rec.Last.To.Terminal() {
		info.Source = message.SourceEnd
	}
	if len(rec.Subjobs) > 0 {
		info.Datacenters = nil
	}
	for i := range rec.Subjobs {
		info.Datacenters = append(info.Datacenters, rec.Subjobs[i].Datacenter)
	}
	return info
}

// counts returns how many requests the job has started and how many of them failed, as last
// reported. It returns false while a subjob that may have sent load has reported nothing here.
func (j *Job) counts() (started, failed uint64, known bool) {
	add := func(flows []message.WorkflowResult) {
		for i := range flows {
			s, _, f := flows[i].Stats.Requests()
			started, failed = started+s, failed+f
		}
	}
	if j.State.Terminal() {
		if j.Result == nil || j.Restored != "" { // what it did since the backup is in no figure
			return 0, 0, false
		}
		add(j.Result.Result.Workflows)
		return started, failed, true
	}
	for _, p := range j.Subjobs {
		if p.Result == nil && p.Progress == nil && p.Ever {
			return 0, 0, false
		}
		add(p.Shown().Workflows)
	}
	return started, failed, true
}
