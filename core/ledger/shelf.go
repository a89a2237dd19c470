package ledger

import (
	"errors"
	"slices"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// GoneMax is the number of rounds without the file at any member after which a fetch gives up.
// A round that a member misses does not count.
const GoneMax = 10

// shelf holds the files on their way, and the outcomes to hand out.
type shelf[T any] struct {
	files   Files
	number  uint64 // of the newest write, file or read
	keeps   map[uint64]keep[T]
	fetches map[uint64]fetch[T]
	refused []keep[T]  // the archive rejected them: Retry keeps them again
	unread  []fetch[T] // no member sent them: Retry fetches them again
	queue   []item[T]
}

// keep is a file on its way to a majority.
type keep[T any] struct {
	book  *book[T] // nil if the request has no book
	write *write   // the write that waits for it; nil if a tag or the book waits
	again bool     // the book waits: the file is kept again
	tag   T
	file  file
}

// fetch is a file that the ledger requested.
type fetch[T any] struct {
	book *book[T]
	tag  T
	file message.FileDigest
	once bool // Borrow
	gone int  // rounds in which all members lacked it
}

// item is an outcome that waits to be handed out. Committed stands for all tags of the book
// whose write a majority has.
type item[T any] struct {
	book    *book[T]
	outcome Outcome[T]
}

func (s *shelf[T]) draw() uint64 {
	s.number++
	return s.number
}

func (s *shelf[T]) push(b *book[T], o Outcome[T]) { s.queue = append(s.queue, item[T]{b, o}) }

// Quiet says that Next has nothing to hand out.
func (s *shelf[T]) Quiet() bool { return len(s.queue) == 0 }

// Next hands out the oldest outcome, or false. The role acts on each before it takes the next:
// if it closes a register meanwhile, that register's outcomes are dropped.
func (s *shelf[T]) Next() (Outcome[T], bool) {
	for len(s.queue) > 0 {
		first := s.queue[0]
		if b := first.book; first.outcome.Kind == Committed && b.state != closed {
			if tag, ok := b.next(); ok {
				return Outcome[T]{Kind: Committed, Tag: tag, Job: b.job}, true
			}
		}
		s.queue = s.queue[1:]
		if first.outcome.Kind != Committed && !first.book.shut() {
			return first.outcome, true
		}
	}
	return Outcome[T]{}, false
}

// shut reports that the request's register was closed since.
func (b *book[T]) shut() bool { return b != nil && b.state == closed }

func (s *shelf[T]) keep(env node.Env, k keep[T]) message.FileDigest {
	number := s.draw()
	s.keeps[number] = k
	return s.files.Keep(env, k.file.bytes, number)
}

func (s *shelf[T]) fetch(env node.Env, f fetch[T]) {
	number := s.draw()
	s.fetches[number] = f
	if f.once {
		s.files.Borrow(env, f.file, number)
	} else {
		s.files.Fetch(env, f.file, number)
	}
}

// onFetched hands a file out, or notes that Retry must fetch it again.
func (s *shelf[T]) onFetched(f fetch[T], o *archive.Outcome) {
	out := Outcome[T]{Kind: Fetched, Tag: f.tag, File: f.file, Bytes: o.Bytes, Err: o.Err, fetch: f}
	if f.book != nil {
		out.Job = f.book.job
	}
	if o.Err != nil {
		if errors.Is(o.Err, archive.ErrMissing) {
			f.gone++
		}
		out.Kind = Unread
		switch {
		case f.once:
		case f.gone >= GoneMax:
			out.Kind = Gone
		default:
			s.unread = append(s.unread, f)
		}
	}
	s.push(f.book, out)
}

// Again makes Retry fetch a file again whose bytes the role cannot use.
func (s *shelf[T]) Again(o *Outcome[T]) { s.unread = append(s.unread, o.fetch) }

// Retry keeps the files again that the archive rejected, and fetches those again that no member
// sent.
func (s *shelf[T]) Retry(env node.Env) {
	refused, unread := s.refused, s.unread
	s.refused, s.unread = nil, nil
	for _, k := range refused {
		reached(env, "ledger/file-kept-again")
		s.keep(env, k)
	}
	for _, f := range unread {
		reached(env, "ledger/file-asked-again")
		s.fetch(env, f)
	}
}

// forget drops the retries of a closed book.
func (s *shelf[T]) forget(b *book[T]) {
	s.refused = slices.DeleteFunc(s.refused, func(k keep[T]) bool { return k.book == b })
	s.unread = slices.DeleteFunc(s.unread, func(f fetch[T]) bool { return f.book == b })
}

// reached counts a rare state.
func reached(env node.Env, what string) { env.Emit(event.Reached{What: what}) }
