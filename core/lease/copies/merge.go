package copies

import (
	"bytes"
	"maps"
	"slices"

	"hyperscale/core/message"
)

// Copy is what one member of a group had.
type Copy struct {
	Epoch     uint64 // of the group
	Floor     uint64 // of the promises that it had forgotten
	Level     uint16 // of what the group wrote
	Registers []message.LeaseRegister
}

// Merged is what several members had together.
type Merged struct {
	Epoch     uint64
	Level     uint16                  // the highest: a newer version may have written the records
	Counted   int                     // copies of that epoch
	Highest   uint64                  // no token that a copy has seen has a higher epoch
	Registers []message.LeaseRegister // by job; those that accepted nothing are in Highest alone
}

// Later reports whether a register's state replaces another copy of it. Of one token, a tombstone
// replaces a record.
func Later(s *message.LeaseState, reaped bool, than *message.LeaseState, thanReaped bool) bool {
	switch c := s.Token.Compare(than.Token); {
	case c != 0:
		return c > 0
	case reaped:
		return true
	case thanReaped:
		return false
	}
	return s.Seq > than.Seq
}

// tie prefers one of two records of one token and one Seq, which two lives of a member chose: no
// majority has both.
func tie(r, was *message.LeaseRegister) bool {
	return r.Accepted.Token == was.Accepted.Token && r.Accepted.Seq == was.Accepted.Seq && r.Reaped == was.Reaped &&
		bytes.Compare(r.Accepted.Record, was.Accepted.Record) > 0
}

// Merge merges copies of one group.
func Merge(all []Copy) Merged {
	var m Merged
	for i := range all {
		m.Epoch = max(m.Epoch, all[i].Epoch)
	}
	latest := map[message.JobID]message.LeaseRegister{}
	for i := range all {
		c := &all[i]
		m.Highest, m.Level = max(m.Highest, c.Floor), max(m.Level, c.Level)
		for k := range c.Registers {
			r := &c.Registers[k]
			m.Highest = max(m.Highest, r.Promised.Epoch, r.Accepted.Token.Epoch)
		}
		if c.Epoch < m.Epoch {
			continue // an outlived disk: its tokens bind, its records do not count
		}
		m.Counted++
		for k := range c.Registers {
			r := &c.Registers[k]
			if r.Accepted.Token.Zero() {
				continue
			}
			was, known := latest[r.Job]
			if !known || Later(&r.Accepted, r.Reaped, &was.Accepted, was.Reaped) || tie(r, &was) {
				latest[r.Job] = message.LeaseRegister{Job: r.Job, Accepted: r.Accepted, Reaped: r.Reaped}
			}
		}
	}
	m.Registers = slices.SortedFunc(maps.Values(latest), func(a, b message.LeaseRegister) int { return a.Job.Compare(b.Job) })
	return m
}
