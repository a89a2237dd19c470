package ledger

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// book holds one register's requests: those that wait, and the open writes.
type book[T any] struct {
	job     message.JobID
	waits   []wait[T]    // the oldest first
	writes  []*write     // those without a majority, the oldest first
	done    uint64       // number of the newest write that a majority has
	since   node.Instant // when the first unsent Write was made; 0 if none waits
	keeping int          // files that the next write waits for while they are kept again
	short   bool         // the archive rejected one of them
	changed bool         // Changed lists it
	state   state
}

// state is a register's state on this node.
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
	files   []file // until it is sent; for a proposal until a majority has it
	missing int    // files that no majority has
	stage   stage
	given   bool         // the role proposed it: the ledger keeps its files fresh until a majority has it
	began   node.Instant // of one that Write made
}

// stage is how far a write has got.
type stage uint8

const (
	gathering stage = iota // its files, or those of an earlier write, are on their way
	sent
	dropped // the ledger took it back, or the register rejected it
)

// file is a file that a write names.
type file struct {
	digest message.FileDigest
	bytes  []byte
}

// enter adds a write; tags without a write wait for it.
func (b *book[T]) enter(w *write) {
	b.assign(0, w.number)
	b.writes = append(b.writes, w)
}

// assign moves the tags of one write to another.
func (b *book[T]) assign(from, to uint64) {
	for i := range b.waits {
		if b.waits[i].write == from {
			b.waits[i].write = to
		}
	}
}

// take takes a write back. Its tags wait for the next write, because each record contains all
// of the earlier one.
func (b *book[T]) take(w *write) {
	if !w.given && b.since == 0 {
		b.since = w.began
	}
	at := slices.Index(b.writes, w)
	if at+1 < len(b.writes) {
		next := b.writes[at+1]
		b.assign(w.number, next.number)
		next.files = append(w.files, next.files...) // the next record names them, too
	} else {
		b.assign(w.number, 0)
	}
	b.writes = slices.Delete(b.writes, at, at+1)
	w.stage = dropped
}

// rejected takes back a write that the register rejected. If it is the newest record, the
// ledger sends a proposal again.
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

// unsent reports whether a tag waits for a write that does not exist yet.
func (b *book[T]) unsent() bool {
	return slices.ContainsFunc(b.waits, func(a wait[T]) bool { return a.write == 0 })
}

// blocked reports whether a write waits for its files: the role makes the next one after it
// went out.
func (b *book[T]) blocked() bool {
	return b.keeping > 0 || len(b.writes) > 0 && b.writes[len(b.writes)-1].stage == gathering
}
