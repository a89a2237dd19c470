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

// Archive is one member's share of a group's files. It keeps, fetches and sweeps them.
type Archive struct {
	sender
	asked    []*file              // fetches that wait for a free place
	wanted   []message.FileDigest // what Mend still has to fetch
	fetching int                  // fetches under way
}

// sender carries the messages between this member and its peers.
type sender struct {
	shelf
	poster  Poster
	fellows []*fellow // sorted by address, without Self
	armed   bool      // the timer is set
}

// shelf holds this member's files and their records on disk.
type shelf struct {
	config   Config
	files    map[message.FileDigest]*file
	bytes    int64                        // lengths of all files
	arriving map[message.FileDigest]*file // incomplete files
	failed   []*file                      // writes to try again
	lacked   []message.FileDigest         // what the records named at the last Mend, and this disk lacked
	writes   map[node.WriteID]*file
	token    uint64
	nonce    uint64
	outcomes []Outcome
}

// file is one file of this member, whole or arriving.
type file struct {
	digest message.FileDigest
	length uint64 // 0: not known yet
	bytes  []byte // nil until it is whole
	moved  node.Instant

	chunks [][]byte // while it arrives
	next   uint64   // first missing byte
	askers []asker  // senders to answer once it is on disk
	fetch  *fetch

	disk    diskState
	written int // records
	keep    *keep
	poll    *poll // the vote on whether this member may sweep it
}

type asker struct {
	addr  node.Addr
	nonce uint64
}

// keep is one round of offers to all peers, and their answers. A Keep that arrives meanwhile
// waits for the next round, because answers to earlier offers do not count for it.
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

// DigestOf returns a file's name.
func DigestOf(b []byte) message.FileDigest { return message.FileDigest(sha256.Sum256(b)) }

// Start loads the files from disk. Call it when the node starts.
func (a *Archive) Start(env node.Env) {
	a.nonce = env.Rand(node.PurposeID).Uint64()
	a.load(env)
}

// Keep stores a file here and at the peers; Kept follows once a majority has it. The archive
// owns the bytes from here on. Keeping a kept file is cheap, and still asks the peers again:
// one of them may have lost its disk.
func (a *Archive) Keep(env node.Env, b []byte, ticket uint64) message.FileDigest {
	d := DigestOf(b)
	f := a.files[d]
	switch {
	case len(b) == 0 || len(b) > FileMax:
		a.fail(d, ErrLength, ticket)
		return d
	case f == nil && !a.room(uint64(len(b))) || f != nil && !a.fits(f, uint64(len(b))):
		env.Emit(event.Shed{Reason: event.ShedBound, What: "file " + d.String(), Why: ErrFull.Error()})
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

// round starts a new round of offers to all peers.
func (a *Archive) round(env node.Env, f *file, tickets []uint64) {
	f.keep = &keep{nonce: a.draw(), began: env.Now(), tickets: tickets, here: f.disk == stored, there: map[node.Addr]bool{}}
	a.judge(env, f)
	for _, w := range a.fellows {
		w.add(f)
		a.pump(env, w)
	}
	a.arm(env)
}

// judge reports Kept once a majority has the file, and begins the round that later Keeps wait
// for.
func (a *Archive) judge(env node.Env, f *file) {
	k := f.keep
	count := len(k.there)
	if k.here {
		count++
	}
	if k.done || count < a.majority() {
		return
	}
	if env.Now().Sub(k.began) >= a.config.quarter() { // the member that had it first may be about to sweep it
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

// draw returns a number that no earlier Keep of this node has used.
func (a *shelf) draw() uint64 {
	a.nonce++
	if a.nonce == 0 {
		a.nonce++
	}
	return a.nonce
}

// Have returns a file that is whole here. Do not change it.
func (a *shelf) Have(d message.FileDigest) ([]byte, bool) {
	f := a.files[d]
	if f == nil || f.bytes == nil {
		return nil, false
	}
	return f.bytes, true
}

// Drop removes a file here, also from disk. Requests that wait for it get Failed.
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

// Used returns the number of files and their bytes, arriving ones included.
func (a *shelf) Used() (files int, bytes int64) { return len(a.files), a.bytes }

func (a *shelf) room(length uint64) bool {
	return len(a.files) < a.config.FilesMax && a.bytes+int64(length) <= a.config.BytesMax
}

// fits reports whether a file has room for a length; the file already counts.
func (a *shelf) fits(f *file, length uint64) bool {
	return a.bytes-int64(f.length)+int64(length) <= a.config.BytesMax
}

func (a *shelf) add(d message.FileDigest, length uint64) *file {
	f := &file{digest: d, length: length}
	a.files[d] = f
	a.bytes += int64(length)
	return f
}

// resize corrects a length that was unknown, or that another member stated.
func (a *shelf) resize(f *file, length uint64) {
	a.bytes += int64(length) - int64(f.length)
	f.length = length
}

// become makes an arriving file whole. The caller has verified it.
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

// arm sets the timer while any transfer, fetch or write is open.
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

// Fire handles a timer, and reports whether it was the archive's.
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
		case f == nil: // the end of another file's fetch has removed it
		case f.fetch != nil:
			a.fetchAgain(env, f)
		case env.Now().Sub(f.moved) >= arrivalTicks*a.config.Retry:
			a.forget(env, f, ErrDropped)
		}
	}
	a.arm(env)
	return true
}
