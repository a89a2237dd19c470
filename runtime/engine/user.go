package engine

import "hyperscale/core/message"

// user is a virtual user between and during its passes: bit i of each set is step i.
type user struct {
	started  uint64
	finished uint64 // ended, whether well or not, or skipped
	bad      uint64 // of those, the ones that failed or were skipped
}

// begin starts a pass. Weighted steps that it does not take count as ended.
func (l *loop) begin(p pass) {
	l.gen.lag.Record(uint64(max(0, l.now-p.could)))
	l.users[p.vu] = user{finished: l.g.weighted &^ (1 << uint16(p.step))}
	l.advance(p.vu, p.due, true)
}

// advance starts each step that waits for nothing any more, and skips those behind a
// failure. Steps come after what they wait for, so that one look at each is enough.
func (l *loop) advance(vu int32, due int64, open bool) {
	u := &l.users[vu]
	all := uint64(1)<<len(l.g.steps) - 1 // of 64 steps too: the shift then gives 0
	for i := range l.g.steps {
		bit, after := uint64(1)<<i, l.g.steps[i].after
		if (u.started|u.finished)&bit != 0 || after&^u.finished != 0 {
			continue
		}
		if after&u.bad != 0 {
			l.accounts[i].skipped++
			u.finished |= bit
			u.bad |= bit
		} else if open {
			u.started |= bit
			l.start(vu, i, due)
		}
	}
	if u.started&^u.finished == 0 && (u.finished == all || !open) {
		l.passed(vu)
	}
}

// finish takes the end of a step.
func (l *loop) finish(vu int32, step int16, good bool) {
	u := &l.users[vu]
	u.finished |= 1 << step
	if !good {
		u.bad |= 1 << step
	}
	l.advance(vu, l.now, !l.isOver())
}

// passed takes the end of a pass.
func (l *loop) passed(vu int32) {
	if l.cfg.Workflow.Plan.Session == message.SessionNone {
		l.hangUpAll(vu)
	}
	l.drive.ended(vu, l.now)
}

// hangUpAll closes the connections of a user.
func (l *loop) hangUpAll(vu int32) {
	for lane := range l.g.lanes {
		l.hangUp(&l.conns[int(vu)*l.g.lanes+lane])
	}
}
