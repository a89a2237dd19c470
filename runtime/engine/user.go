package engine

// user is a virtual user between and during its passes: bit i of each set is step i.
type user struct {
	started  uint64
	finished uint64 // ended, whether well or not, or skipped
	bad      uint64 // of those, the ones that failed or were skipped
}

// begin starts a pass that was to start at due.
func (l *loop) begin(vu int32, due int64) {
	if l.isOver() {
		l.leave(vu)
		return
	}
	l.gen.lag.Record(uint64(max(0, l.now-due)))
	l.users[vu] = user{}
	l.advance(vu, due)
}

// advance starts each step that waits for nothing any more, and skips those behind a
// failure. Steps come after what they wait for, so that one look at each is enough.
func (l *loop) advance(vu int32, due int64) {
	u := &l.users[vu]
	all := uint64(1)<<len(l.g.steps) - 1 // of 64 steps too: the shift then gives 0
	open := !l.isOver()
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
	l.advance(vu, l.now)
}

// passed takes the end of a pass.
func (l *loop) passed(vu int32) {
	think := int64(l.cfg.Workflow.Plan.Think)
	switch {
	case l.cfg.Duration == 0 || l.isOver():
		l.leave(vu)
	case think > 0:
		l.thinking.push(start{due: l.now + think, vu: vu})
	default:
		l.ready.push(start{due: l.now, vu: vu})
	}
}

// leave ends a user for good.
func (l *loop) leave(vu int32) {
	l.active--
	for lane := range l.g.lanes {
		l.hangUp(&l.conns[int(vu)*l.g.lanes+lane])
	}
}

// start is a pass to come.
type start struct {
	due int64
	vu  int32
}

// fifo is a queue in a ring.
type fifo struct {
	ring  []start // its length is a power of two
	first int
	count int
}

func (f *fifo) len() int { return f.count }

func (f *fifo) push(s start) {
	if f.count == len(f.ring) {
		grown := make([]start, max(16, 2*len(f.ring)))
		for i := range f.count {
			grown[i] = f.ring[(f.first+i)&(len(f.ring)-1)]
		}
		f.ring, f.first = grown, 0
	}
	f.ring[(f.first+f.count)&(len(f.ring)-1)] = s
	f.count++
}

func (f *fifo) pop() start {
	s := f.ring[f.first]
	f.first = (f.first + 1) & (len(f.ring) - 1)
	f.count--
	return s
}

// nextDue is when the first of the queue is due.
func (f *fifo) nextDue() int64 {
	if f.count == 0 {
		return never
	}
	return f.ring[f.first].due
}
