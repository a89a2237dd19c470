package ledger

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Propose writes a job's current record, once a majority has the files that it names and the
// earlier records went out. Committed follows with the tag.
func (l *Ledger[T]) Propose(env node.Env, job message.JobID, record []byte, files [][]byte, tag T) {
	b := l.books[job]
	if b == nil {
		return
	}
	b.waits = append(b.waits, wait[T]{tag: tag})
	w := &write{number: l.draw(), record: record, given: true}
	l.enter(env, b, w, files)
}

// Await makes a tag wait for the job's next record, and lists the job for Changed.
func (l *Ledger[T]) Await(job message.JobID, tag T) {
	if b := l.books[job]; b != nil {
		b.waits = append(b.waits, wait[T]{tag: tag})
		l.mark(b)
	}
}

// Resend retries what a register or the archive rejected: it lists the job for Changed, or
// sends the proposal.
func (l *Ledger[T]) Resend(env node.Env, job message.JobID) {
	b := l.books[job]
	if b == nil {
		return
	}
	l.issue(env, b)
	if b.unsent() && !b.blocked() {
		l.mark(b)
	}
}

func (l *Ledger[T]) mark(b *book[T]) {
	if !b.changed {
		b.changed = true
		l.changed = append(l.changed, b)
	}
}

// Changed lists the jobs whose records the role should Write now. A job whose last write still
// waits for a file comes after that write.
func (l *Ledger[T]) Changed() []message.JobID {
	list := l.changed
	l.changed = nil
	var jobs []message.JobID
	for _, b := range list {
		b.changed = false
		if b.state != closed && !b.blocked() {
			jobs = append(jobs, b.job)
		}
	}
	return jobs
}

// Write writes the record of a job that Changed listed. A record that is too large for its
// register becomes a file: the register's record then names that file.
func (l *Ledger[T]) Write(env node.Env, job message.JobID, record []byte, files ...[]byte) {
	if b := l.books[job]; b != nil {
		if b.since == 0 {
			b.since = env.Now()
		}
		l.enter(env, b, &write{number: l.draw(), record: record, began: b.since}, files)
	}
}

// enter adds a write and keeps its files; it goes out once a majority has them.
func (l *Ledger[T]) enter(env node.Env, b *book[T], w *write, files [][]byte) {
	w.missing = len(files)
	b.enter(w)
	for _, bytes := range files {
		w.files = append(w.files, file{bytes: bytes})
	}
	for i := range w.files {
		w.files[i].digest = l.keep(env, keep[T]{book: b, write: w, file: w.files[i]})
	}
	l.issue(env, b)
}

// issue sends the writes whose files, and those of all earlier ones, a majority has.
func (l *Ledger[T]) issue(env node.Env, b *book[T]) {
	for _, w := range b.writes {
		switch {
		case w.stage == sent && b.state == claimed:
			return // the next one follows the grant
		case w.stage == sent:
			continue
		case w.missing > 0 || w.given && l.renew(env, b, w):
			return
		case !w.given && (b.short || env.Now().Sub(w.began) >= l.late):
			l.lateOf(env, b, w)
			return
		}
		w.stage, b.since = sent, 0
		if b.state == claimed {
			l.registers.Acquire(env, b.job, w.record)
			return
		}
		l.registers.Update(env, b.job, w.record, w.number)
		if !w.given && b.unsent() {
			l.mark(b)
		}
	}
}

// lateOf takes back a write that waited too long for its own file, or for room: members may be
// about to sweep the files that its record names.
func (l *Ledger[T]) lateOf(env node.Env, b *book[T], w *write) {
	reached(env, "ledger/record-late")
	b.take(w)
	b.keeping = 1
	l.push(b, Outcome[T]{Kind: Late, Job: b.job})
}

// renew keeps the files of a write again that waited too long for an earlier one: members may
// be about to sweep them.
func (l *Ledger[T]) renew(env node.Env, b *book[T], w *write) bool {
	for _, f := range w.files {
		if l.files.Stale(env, f.digest) {
			reached(env, "ledger/kept-again")
			w.missing++
			l.keep(env, keep[T]{book: b, write: w, file: f})
		}
	}
	return w.missing > 0
}

// onAnswer continues the write that waited for a file.
func (l *Ledger[T]) onAnswer(env node.Env, k keep[T], err error) {
	b, w := k.book, k.write
	switch {
	case w.stage == dropped:
	case err == nil:
		w.missing--
		l.issue(env, b)
	case w.given:
		l.refused = append(l.refused, k)
		l.push(b, Outcome[T]{Kind: Refused, Tag: b.first(w), Job: b.job, Err: err})
	default:
		b.take(w) // Resend makes the role write the record again
	}
}

// KeepAgain answers Late: it keeps those of the files again that are here. Once a majority has
// them, Changed lists the job.
func (l *Ledger[T]) KeepAgain(env node.Env, job message.JobID, files []message.FileDigest) {
	b := l.books[job]
	if b == nil || b.keeping == 0 {
		return
	}
	b.short, b.since = false, env.Now()
	for _, d := range files {
		if bytes, ok := l.files.Have(d); ok {
			b.keeping++
			l.keep(env, keep[T]{book: b, again: true, file: file{bytes: bytes}})
		}
	}
	l.keptAgain(env, b)
}

func (l *Ledger[T]) keptAgain(env node.Env, b *book[T]) {
	if b.keeping--; b.keeping > 0 {
		return
	}
	if b.short {
		return // Resend makes the role write the record again, which is late again
	}
	if env.Now().Sub(b.since) < l.late {
		b.since = 0
	}
	if b.unsent() {
		l.mark(b)
	}
}
