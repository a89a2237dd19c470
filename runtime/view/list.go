package view

import "hyperscale/core/message"

// JobList is what `jobs --json` prints. Fields may be added, never renamed.
type JobList struct {
	Gates   []Gate   `json:"gates"`
	Jobs    []JobRow `json:"jobs"`
	LeftOut int      `json:"left_out"` // beyond --limit
	Cut     bool     `json:"cut"`      // the gates know more jobs than a list can have
}

// Gate says whether a gate listed its jobs.
type Gate struct {
	Name     string `json:"name"` // empty if it was never heard
	Address  string `json:"address"`
	Answered bool   `json:"answered"`
	Why      string `json:"why"` // it did not
}

// JobRow is one job of the list.
type JobRow struct {
	Job         string   `json:"job"`
	Name        string   `json:"name"`
	State       string   `json:"state"`
	Source      string   `json:"source"`     // of the state: record, owner, end
	Position    uint32   `json:"position"`   // in the queue of its gate, from 1; 0: not queued
	Importance  string   `json:"importance"` // empty: not known
	AgeNS       int64    `json:"age_ns"`     // since its acceptance, at least
	Datacenters []string `json:"datacenters"`
	Started     *uint64  `json:"started"` // null: not known
	Failed      *uint64  `json:"failed"`  // timed out ones included
}

// JobListOf shows a list, of which so many jobs are left out.
func JobListOf(l *message.JobList, left int) JobList {
	out := JobList{Gates: []Gate{}, Jobs: []JobRow{}, LeftOut: left, Cut: l.More}
	for _, g := range l.Gates {
		out.Gates = append(out.Gates, Gate{g.Node, g.Addr, g.Why == "", g.Why})
	}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		row := JobRow{
			Job: j.Job.String(), Name: j.Name, State: j.State.String(), Source: j.Source.String(), Position: j.Position,
			AgeNS: int64(j.Age), Datacenters: append([]string{}, j.Datacenters...),
		}
		if j.Ranked {
			row.Importance = j.Rank.String()
		}
		if j.Counted {
			row.Started, row.Failed = &j.Started, &j.Failed
		}
		out.Jobs = append(out.Jobs, row)
	}
	return out
}
