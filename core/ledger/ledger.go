package ledger

import (
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Ledger persists what a role proposes, and hands out its tags. T is the role's own type of
// tags: a small value, never a function.
type Ledger[T any] struct {
	shelf[T]
	registers Registers
	late      time.Duration
	books     map[message.JobID]*book[T]
	changed   []*book[T] // the role should write their records
	reads     map[uint64]read[T]
}

// read is a request to a majority for a register.
type read[T any] struct {
	job message.JobID
	tag T
}

// New returns a ledger that has not started. A record that is itself a file may take as long as
// late to reach a majority. After that the ledger keeps the files again that it names.
func New[T any](late time.Duration) *Ledger[T] {
	return &Ledger[T]{
		shelf: shelf[T]{keeps: map[uint64]keep[T]{}, fetches: map[uint64]fetch[T]{}},
		late:  late, books: map[message.JobID]*book[T]{}, reads: map[uint64]read[T]{},
	}
}

// Start sets the registers and the archive that the ledger writes to.
func (l *Ledger[T]) Start(r Registers, f Files) { l.registers, l.files = r, f }

// Open begins the book of a register that this node holds.
func (l *Ledger[T]) Open(job message.JobID) { l.open(&book[T]{job: job}) }

// Claim begins the book of a register that this node does not hold: its first record acquires
// it. The role then calls Granted, or Close.
func (l *Ledger[T]) Claim(job message.JobID) { l.open(&book[T]{job: job, state: claimed}) }

func (l *Ledger[T]) open(b *book[T]) {
	if l.books[b.job] != nil {
		node.Bug("ledger: the register of job %v is open", b.job)
	}
	l.books[b.job] = b
}

// Granted commits the first record of a claimed register: the lease granted it as the seed.
func (l *Ledger[T]) Granted(env node.Env, job message.JobID) {
	b := l.books[job]
	if b == nil || b.state != claimed || len(b.writes) == 0 || b.writes[0].stage != sent {
		node.Bug("ledger: the register of job %v is granted without a claim", job)
	}
	b.state = owned
	l.commit(b, b.writes[0].number)
	l.issue(env, b)
}

// Close ends the book of a register that is lost, released or given up. Next hands out nothing
// more of it.
func (l *Ledger[T]) Close(job message.JobID) {
	if b := l.books[job]; b != nil {
		b.state = closed
		delete(l.books, job)
		l.forget(b)
	}
}

// Keep stores a file on a majority: Kept or Refused follows.
func (l *Ledger[T]) Keep(env node.Env, job message.JobID, bytes []byte, tag T) message.FileDigest {
	return l.keep(env, keep[T]{book: l.books[job], tag: tag, file: file{bytes: bytes}})
}

// Fetch fetches a file that a majority kept: Fetched, Unread or Gone follows. This node keeps
// the file.
func (l *Ledger[T]) Fetch(env node.Env, job message.JobID, d message.FileDigest, tag T) {
	l.fetch(env, fetch[T]{book: l.books[job], tag: tag, file: d})
}

// Borrow requests once a file that this node does not keep: Fetched or Unread follows.
func (l *Ledger[T]) Borrow(env node.Env, job message.JobID, d message.FileDigest, tag T) {
	l.fetch(env, fetch[T]{book: l.books[job], tag: tag, file: d, once: true})
}

// Read queries a majority for a job's register: Read follows.
func (l *Ledger[T]) Read(env node.Env, job message.JobID, tag T) {
	number := l.draw()
	l.reads[number] = read[T]{job, tag}
	l.registers.Read(env, job, number)
}

// OnLease takes an outcome of the registers, and reports whether it concerns the ledger alone.
func (l *Ledger[T]) OnLease(o *lease.Outcome) bool {
	switch o.Kind {
	case lease.Updated:
		if b := l.books[o.Job]; b != nil {
			l.commit(b, o.Ticket)
		}
		return true
	case lease.Rejected:
		if b := l.books[o.Job]; b != nil {
			b.rejected(o.Ticket) // Resend writes it again if this node still holds the register then
		}
		return true
	case lease.Read:
		if r, ok := l.reads[o.Ticket]; ok {
			delete(l.reads, o.Ticket)
			l.push(nil, Outcome[T]{Kind: Read, Tag: r.tag, Job: r.job, Found: o.Found, State: o.State, Err: o.Err})
		}
		return true
	case lease.Lost:
		l.Close(o.Job)
	}
	return false
}

func (l *Ledger[T]) commit(b *book[T], number uint64) {
	b.updated(number)
	l.push(b, Outcome[T]{Kind: Committed})
}

// OnFile takes an outcome of the archive.
func (l *Ledger[T]) OnFile(env node.Env, o *archive.Outcome) {
	if f, ok := l.fetches[o.Ticket]; ok {
		delete(l.fetches, o.Ticket)
		if !f.book.shut() {
			l.onFetched(f, o)
		}
		return
	}
	k, ok := l.keeps[o.Ticket]
	delete(l.keeps, o.Ticket)
	switch {
	case !ok || k.book.shut():
	case k.again:
		k.book.short = k.book.short || o.Err != nil
		l.keptAgain(env, k.book)
	case k.write == nil:
		l.kept(k, o)
	default:
		l.onAnswer(env, k, o.Err)
	}
}

// kept hands out the outcome of a Keep.
func (l *Ledger[T]) kept(k keep[T], o *archive.Outcome) {
	out := Outcome[T]{Kind: Kept, Tag: k.tag, File: o.File, Err: o.Err}
	if o.Err != nil {
		out.Kind = Refused
	}
	if k.book != nil {
		out.Job = k.book.job
	}
	l.push(k.book, out)
}
