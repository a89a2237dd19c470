package schedule

// Hold says that no user begins which has not begun, as far as that is possible, until it is called
// with false. It saves what a new user takes. Users that have begun go on.
//
// Of a closed workflow, users that are due meanwhile begin once the hold ends, spaced as at its
// begin, and are not late by it. Of an open one, an iteration that finds none of the users that have
// begun waits for one, or is dropped and counted.
func (d *Iterations) Hold(on bool, now int64) {
	if d.held == on {
		return
	}
	if d.held && d.open == nil {
		d.noteHeld(now)
		d.closed.since = max(d.closed.since, now)
	}
	if d.held = on; !on && d.open != nil && d.open.state == arrivalAsleep {
		d.open.state = arrivalDelayed
	}
}

// holds says that a hold is in force: while nothing is under way, a user begins all the same, so that
// each run ends.
func (d *Iterations) holds() bool { return d.held && d.figures.Active > 0 }

// noteHeld counts the users that are due and do not begin.
func (d *Iterations) noteHeld(now int64) {
	if c := &d.closed; c.due() <= now {
		d.figures.Held = max(d.figures.Held, uint64(c.wanted-c.up))
	}
}
