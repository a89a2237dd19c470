package ledger

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Idle reports that no request of a job's register waits.
func (l *Ledger[T]) Idle(job message.JobID) bool {
	b := l.books[job]
	return b == nil || !b.changed && len(b.waits) == 0 && !b.blocked()
}

// Gathering reports that the first write of a job's register waits for a file.
func (l *Ledger[T]) Gathering(job message.JobID) bool {
	b := l.books[job]
	return b != nil && len(b.writes) > 0 && b.writes[0].missing > 0
}

// Keeping counts the files on their way to a majority.
func (l *Ledger[T]) Keeping() int { return len(l.keeps) + len(l.refused) }

// Fetching counts the files that the ledger fetches.
func (l *Ledger[T]) Fetching() int { return len(l.fetches) + len(l.unread) }

// Reading counts the open reads of a majority.
func (l *Ledger[T]) Reading() int { return len(l.reads) }

// Use marks the files of open registers that perhaps no record names yet, so that a sweep
// spares them.
func (l *Ledger[T]) Use(inUse map[message.FileDigest]bool) {
	//lint:orderfree a set
	for _, b := range l.books {
		for _, w := range b.writes {
			for _, f := range w.files {
				inUse[f.digest] = true
			}
		}
	}
}

// Rests reports what the ledger holds for the role of that name.
func (l *Ledger[T]) Rests(tell node.Tell, role string) {
	waits, writes := 0, 0
	//lint:orderfree sums
	for _, b := range l.books {
		waits += len(b.waits)
		for _, w := range b.writes {
			writes += 1 + len(w.files)
		}
	}
	tell(role+"/registers", len(l.books), 0)
	tell(role+"/waits for a record", waits, 0)
	tell(role+"/records on their way", writes, 0)
	tell(role+"/records to write", len(l.changed), 0)
	tell(role+"/files on their way", l.Keeping(), 0)
	tell(role+"/files that are missed", l.Fetching(), 0)
	tell(role+"/reads", len(l.reads), 0)
	tell(role+"/outcomes", len(l.queue), 0)
}
