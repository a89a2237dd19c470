package view

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
)

// LetterList is what `jobs --dead --json` prints. Fields may be added, never renamed.
type LetterList struct {
	Gates   []Gate   `json:"gates"`
	Letters []Letter `json:"letters"`
	LeftOut int      `json:"left_out"` // beyond --limit
	Cut     bool     `json:"cut"`      // the gates know more jobs than a list can have
}

// Letter is one dead letter.
type Letter struct {
	Job     string    `json:"job"`
	Key     string    `json:"key"`
	Name    string    `json:"name"`
	State   string    `json:"state"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`      // of its end, at the latest
	Program string    `json:"program"` // SHA-256 of the file with its submission
	Bytes   uint64    `json:"bytes"`   // of that file
}

// LetterOf returns what a list tells of a dead letter, or nil.
func LetterOf(l *message.JobList, id message.JobID) *message.LetterInfo {
	at, ok := slices.BinarySearchFunc(l.Letters, id, func(o message.LetterInfo, id message.JobID) int { return o.Job.Compare(id) })
	if !ok {
		return nil
	}
	return &l.Letters[at]
}

// LettersOf shows a list of dead letters alone, of which so many are left out, as of now.
func LettersOf(l *message.JobList, left int, now time.Time) LetterList {
	out := LetterList{Gates: JobListOf(l, left).Gates, Letters: []Letter{}, LeftOut: left, Cut: l.More}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		d := LetterOf(l, j.Job)
		if d == nil {
			continue // an older gate lists all its jobs
		}
		out.Letters = append(out.Letters, Letter{
			Job: j.Job.String(), Key: d.Key, Name: j.Name, State: j.State.String(), Reason: d.Reason,
			At: now.Add(-d.Ended).UTC().Truncate(time.Second), Program: fmt.Sprintf("%x", d.Program[:]), Bytes: d.Bytes,
		})
	}
	return out
}
