package ledger

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// book is one register's requests: which wait, and which writes are on their way.
type book[T any] struct {
	job     message.JobID
	waits   []wait[T]    // the oldest first
	writes  []*write     // that no majority has, the oldest first
	done    uint64       // the number of the newest write that a majority has
	since   node.Instant // of the first Write that is not sent; 0 when none waits
	keeping int          // files that are kept again before the next write
	short   bool         // one of those was refused
	changed bool         // it is listed for Changed
	state   state
}

// state is what a register is to this node.
type state uint8

const (
	owned   state = iota
	claimed       // the first write acquires it
	closed
)

// wait is a tag that waits for a write; write is 0 until there is one.
type wait[T any] struct {
	tag   T
	write uint64
}

// write is one record on its way to the register, behind the files that it names.
type write struct {
	number  uint64
	record  []byte
	files   []file // until it is sent, and of a proposal until a majority has it
	missing int    // of files, that no majority has
	stage   stage
	given   bool         // the record was proposed: its files are kept again until a majority has them
	began   node.Instant // of one that was not proposed
}

// stage is how far a write is.
type stage uint8

const (
	gathering stage = iota // its files, or those of one before it, are on their way
	sent
	dropped // it was taken back, or rejected
)

// file is what a write names.
type file struct {
	digest message.FileDigest
	bytes  []byte
}

// enter adds a write, which the tags that have none wait for.
func (b *book[T]) enter(w *write) {
	b.assign(0, w.number)
	b.writes = append(b.writes, w)
}

// assign has the tags of one write wait for another.
func (b *book[T]) assign(from, to uint64) {
	for i := range b.waits {
		if b.waits[i].write == from {
			b.waits[i].write = to
		}
	}
}

// take takes a write back. What waited for it waits for the next one: each record says
// all that the one before did.
func (b *book[T]) take(w *write) {
	if !w.given && b.since == 0 {
		b.since = w.began
	}
	at := slices.Index(b.writes, w)
	if at+1 < len(b.writes) {
		next := b.writes[at+1]
		b.assign(w.number, next.number)
		next.files = append(w.files, next.files...) // its record names them, too
	} else {
		b.assign(w.number, 0)
	}
	b.writes = slices.Delete(b.writes, at, at+1)
	w.stage = dropped
}

// rejected takes a write back that its register refused. A proposal that is the newest
// record is sent again.
func (b *book[T]) rejected(number uint64) {
	for i, w := range b.writes {
		switch {
		case w.number != number:
		case w.given && i == len(b.writes)-1:
			w.stage = gathering
			return
		default:
			b.take(w)
			return
		}
	}
}

// updated notes that a majority has the write of a number.
func (b *book[T]) updated(number uint64) {
	b.done = max(b.done, number)
	for len(b.writes) > 0 && b.writes[0].number <= number {
		b.writes = b.writes[1:]
	}
}

// next removes the first tag whose write a majority has.
func (b *book[T]) next() (tag T, ok bool) {
	if len(b.waits) == 0 || b.waits[0].write == 0 || b.waits[0].write > b.done {
		return tag, false
	}
	tag = b.waits[0].tag
	b.waits = b.waits[1:]
	return tag, true
}

// first returns the first tag that waits for a write.
func (b *book[T]) first(w *write) (tag T) {
	for _, a := range b.waits {
		if a.write == w.number {
			return a.tag
		}
	}
	return tag
}

// unsent says that a tag waits for a write that was not made.
func (b *book[T]) unsent() bool {
	return slices.ContainsFunc(b.waits, func(a wait[T]) bool { return a.write == 0 })
}

// blocked says that a write waits for its files: the next one is made after it went out.
func (b *book[T]) blocked() bool {
	return b.keeping > 0 || len(b.writes) > 0 && b.writes[len(b.writes)-1].stage == gathering
}
