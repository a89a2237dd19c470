package archive

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Archive is one member's share of a group's files. It keeps, fetches and sweeps.
type Archive struct {
	sender
	asked    []*file              // fetches that wait for their turn
	wanted   []message.FileDigest // what Mend still has to bring
	fetching int                  // fetches under way
}

// sender is what this member and its peers send each other.
type sender struct {
	shelf
	poster  Poster
	fellows []*fellow // sorted by address, without Self
	armed   bool      // the timer is set
}

// shelf is the files that are here, and their records on disk.
type shelf struct {
	config   Config
	files    map[message.FileDigest]*file
	bytes    int64                        // lengths of all files
	arriving map[message.FileDigest]*file // those that are not whole
	failed   []*file                      // writes to try again
	writes   map[node.WriteID]*file
	token    uint64
	nonce    uint64
	outcomes []Outcome
}

// file is one file here, whole or arriving.
type file struct {
	digest message.FileDigest
	length uint64 // 0: not known yet
	bytes  []byte // nil until it is whole
	moved  node.Instant

	chunks [][]byte // while it arrives
	next   uint64   // what is missing first
	askers []asker  // who is told when it is on disk
	fetch  *fetch

	disk    diskState
	written int // records
	keep    *keep
	poll    *poll // whether it may go
}

type asker struct {
	addr  node.Addr
	nonce uint64
}

// keep is a round of asking all fellows, and what it has come to. A Keep that
// comes meanwhile waits for the next one: words of before it count nothing for it.
type keep struct {
	nonce   uint64
	began   node.Instant
	tickets []uint64
	later   []uint64 // tickets of the next round
	here    bool
	there   map[node.Addr]bool
	done    bool
}

// New returns an archive that has not started.
func New(c Config, p Poster) *Archive {
	c.check()
	a := &Archive{}
	a.config, a.poster = c, p
	a.files, a.arriving, a.writes = map[message.FileDigest]*file{}, map[message.FileDigest]*file{}, map[node.WriteID]*file{}
	for _, m := range slices.Compact(slices.Sorted(slices.Values(c.Members))) {
		if m != c.Self {
			a.fellows = append(a.fellows, &fellow{addr: m, transfers: map[message.FileDigest]*transfer{}})
		}
	}
	return a
}

// DigestOf is the name of a file.
func DigestOf(b []byte) message.FileDigest { return message.FileDigest(sha256.Sum256(b)) }

// Start loads what is on disk. Call it when the node starts.
func (a *Archive) Start(env node.Env) {
	a.nonce = env.Rand(node.PurposeID).Uint64()
	a.load(env)
}

// Keep stores a file here and at the fellows; Kept follows when a majority has it.
// The bytes belong to the archive from here on. Keeping what is kept is cheap, and
// still asks the fellows anew: one of them may have lost its disk.
func (a *Archive) Keep(env node.Env, b []byte, ticket uint64) message.FileDigest {
	d := DigestOf(b)
	f := a.files[d]
	switch {
	case len(b) == 0 || len(b) > FileMax:
		a.fail(d, ErrLength, ticket)
		return d
	case f == nil && !a.room(uint64(len(b))) || f != nil && !a.fits(f, uint64(len(b))):
		env.Emit(event.Shed{What: "file " + d.String(), Why: ErrFull.Error()})
		a.fail(d, ErrFull, ticket)
		return d
	case f == nil:
		f = a.add(d, uint64(len(b)))
		f.bytes = b
	case f.bytes == nil:
		a.resize(f, uint64(len(b)))
		a.become(env, f, b)
	}
	f.moved = env.Now()
	if f.disk == nowhere {
		a.write(env, f)
	}
	if f.keep != nil && !f.keep.done {
		f.keep.later = append(f.keep.later, ticket)
		return d
	}
	a.round(env, f, []uint64{ticket})
	return d
}

// round asks all fellows anew.
func (a *Archive) round(env node.Env, f *file, tickets []uint64) {
	f.keep = &keep{nonce: a.draw(), began: env.Now(), tickets: tickets, here: f.disk == stored, there: map[node.Addr]bool{}}
	a.judge(env, f)
	for _, w := range a.fellows {
		w.add(f)
		a.pump(env, w)
	}
	a.arm(env)
}

// judge tells Kept once a majority has the file, and begins the round that others
// wait for.
func (a *Archive) judge(env node.Env, f *file) {
	k := f.keep
	count := len(k.there)
	if k.here {
		count++
	}
	if k.done || count < a.majority() {
		return
	}
	if env.Now().Sub(k.began) >= a.config.quarter() { // who had it first may be about to sweep it
		a.round(env, f, append(k.tickets, k.later...))
		return
	}
	k.done = true
	for _, t := range k.tickets {
		a.outcomes = append(a.outcomes, Outcome{Kind: Kept, File: f.digest, Ticket: t})
	}
	k.tickets = nil
	if len(k.later) > 0 {
		a.round(env, f, k.later)
	}
}

// draw returns a number that no earlier Keep of this node has had.
func (a *shelf) draw() uint64 {
	a.nonce++
	if a.nonce == 0 {
		a.nonce++
	}
	return a.nonce
}

// Have returns a file that is whole here. It is not to be changed.
func (a *shelf) Have(d message.FileDigest) ([]byte, bool) {
	f := a.files[d]
	if f == nil || f.bytes == nil {
		return nil, false
	}
	return f.bytes, true
}

// Drop forgets a file here, also on disk. Who waits for it is told Failed.
func (a *Archive) Drop(env node.Env, d message.FileDigest) {
	if f := a.files[d]; f != nil {
		a.forget(env, f, ErrDropped)
	}
}

// Take returns the outcomes since the last Take, in order.
func (a *shelf) Take() []Outcome {
	o := a.outcomes
	a.outcomes = nil
	return o
}

// Used is how many files there are, and their bytes, arriving ones included.
func (a *shelf) Used() (files int, bytes int64) { return len(a.files), a.bytes }

func (a *shelf) room(length uint64) bool {
	return len(a.files) < a.config.FilesMax && a.bytes+int64(length) <= a.config.BytesMax
}

// fits says that a file has room for a length: it counts among the files already.
func (a *shelf) fits(f *file, length uint64) bool {
	return a.bytes-int64(f.length)+int64(length) <= a.config.BytesMax
}

func (a *shelf) add(d message.FileDigest, length uint64) *file {
	f := &file{digest: d, length: length}
	a.files[d] = f
	a.bytes += int64(length)
	return f
}

// resize corrects a length that somebody said, or that was not known.
func (a *shelf) resize(f *file, length uint64) {
	a.bytes += int64(length) - int64(f.length)
	f.length = length
}

// become makes a file that was arriving whole. The caller has verified it.
func (a *Archive) become(env node.Env, f *file, b []byte) {
	delete(a.arriving, f.digest)
	f.bytes, f.chunks, f.next, f.moved = b, nil, f.length, env.Now()
	if f.fetch == nil {
		return
	}
	for _, t := range f.fetch.tickets {
		a.outcomes = append(a.outcomes, Outcome{Kind: Fetched, File: f.digest, Ticket: t, Bytes: b})
	}
	a.ended(env, f)
}

// forget removes a file from memory and disk.
func (a *Archive) forget(env node.Env, f *file, why error) {
	delete(a.files, f.digest)
	delete(a.arriving, f.digest)
	a.bytes -= int64(f.length)
	if f.keep != nil {
		a.fail(f.digest, why, f.keep.tickets...)
		a.fail(f.digest, why, f.keep.later...)
	}
	for _, w := range a.fellows {
		w.remove(f.digest)
	}
	a.failed = slices.DeleteFunc(a.failed, func(o *file) bool { return o == f })
	a.erase(env, f)
	if f.fetch != nil {
		a.fail(f.digest, why, f.fetch.tickets...)
		a.ended(env, f)
	}
}

func (a *shelf) fail(d message.FileDigest, why error, tickets ...uint64) {
	for _, t := range tickets {
		a.outcomes = append(a.outcomes, Outcome{Kind: Failed, File: d, Ticket: t, Err: why})
	}
}

func (a *shelf) sorted(m map[message.FileDigest]*file) []message.FileDigest {
	return slices.SortedFunc(maps.Keys(m), func(x, y message.FileDigest) int { return bytes.Compare(x[:], y[:]) })
}

// arm sets the timer while anything is under way.
func (a *sender) arm(env node.Env) {
	busy := len(a.arriving) > 0 || len(a.failed) > 0
	for _, w := range a.fellows {
		busy = busy || len(w.transfers) > 0
	}
	if busy && !a.armed {
		a.armed = true
		env.SetTimer(node.Key(node.PartArchive, node.ArchiveRetry), a.config.Retry)
	}
}

// Fire handles a timer, and says whether it was the archive's.
func (a *Archive) Fire(env node.Env, k node.TimerKey) bool {
	if k.Part != node.PartArchive {
		return false
	}
	a.armed = false
	failed := a.failed
	a.failed = nil
	for _, f := range failed {
		a.write(env, f)
	}
	for _, w := range a.fellows {
		a.offerAgain(env, w)
	}
	for _, d := range a.sorted(a.arriving) {
		f := a.arriving[d]
		switch {
		case f == nil: // ended by another's
		case f.fetch != nil:
			a.fetchAgain(env, f)
		case env.Now().Sub(f.moved) >= arrivalTicks*a.config.Retry:
			a.forget(env, f, ErrDropped)
		}
	}
	a.arm(env)
	return true
}
