package archive

import (
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// poll asks the peers whether they name a file that this member wants to sweep.
type poll struct {
	nonce uint64
	asked node.Instant
	moved node.Instant // of the file: if the file moves since, the poll starts over
	free  map[node.Addr]bool
}

// question is a peer's poll, until the next Sweep answers it.
type question struct {
	nonce uint64
	files []message.FileDigest
}

// A quarter of SweepAge each:
//
//	a Keep's round, from the first offer to the last answer of the majority,
//	the time from Kept to the sending of the record that names the file,
//	a poll, from the question to the last answer of the majority,
//	from that sending until a majority has the record, and the drift of two clocks.
//
// Config.Spare is the last one; the roles check their leases against it.
const quarters = 4

func (c Config) quarter() time.Duration { return c.SweepAge / quarters }

// Spare returns how long a record may take from its sending to a majority. It allows for the
// drift of two clocks over SweepAge. An accept that takes longer has no holder.
func (c Config) Spare(driftPPM int64) time.Duration {
	return c.quarter() - 2*time.Duration(int64(c.SweepAge)/1_000_000*driftPPM)
}

// Stale reports whether the file was kept too long ago for a new record to name it: its keepers
// may sweep it before a majority has the record. Keep it again first.
func (a *Archive) Stale(env node.Env, d message.FileDigest) bool {
	f := a.files[d]
	return f == nil || f.keep == nil || env.Now().Sub(f.keep.began) >= 2*a.config.quarter()
}

// Sweep drops files that no record names. The caller lists the files that its own registers and
// open writes name, and those that wait for their Kept. A file goes if neither this member nor
// a majority of all names it, and none of them has kept it for SweepAge.
//
// This member's own registers are not enough, because it may have missed the record:
//
//  1. A keeps a file; B stores it, so a majority has it.
//  2. B is cut off. A writes the record that names the file; C accepts it.
//  3. B sees no record that names the file, and sweeps its copy.
//  4. A loses its disk: the record is there, the file is nowhere.
func (a *Archive) Sweep(env node.Env, inUse map[message.FileDigest]bool) {
	a.answerPolls(env, inUse)
	var asked []message.FileDigest
	for _, d := range a.sorted(a.files) {
		f := a.files[d]
		if inUse[d] || !a.idle(env, f) {
			f.poll = nil
			continue
		}
		if p := f.poll; p == nil || p.moved != f.moved || !a.agreed(p) && env.Now().Sub(p.asked) >= a.config.quarter() {
			f.poll = &poll{asked: env.Now(), moved: f.moved, free: map[node.Addr]bool{}}
			asked = append(asked, d)
		}
		if a.agreed(f.poll) {
			a.forget(env, f, ErrDropped)
		}
	}
	if len(a.fellows) > 0 {
		a.poll(env, asked)
	}
}

// idle reports that no request has needed this file here for SweepAge.
func (a *shelf) idle(env node.Env, f *file) bool {
	return f.fetch == nil && env.Now().Sub(f.moved) >= a.config.SweepAge
}

// agreed reports that a majority no longer names the file, this member included.
func (a *sender) agreed(p *poll) bool { return len(p.free)+1 >= a.majority() }

// majority returns how many of the configured members are a majority.
func (a *sender) majority() int { return (len(a.fellows)+1)/2 + 1 }

// poll asks all peers about files, under one nonce.
func (a *Archive) poll(env node.Env, asked []message.FileDigest) {
	if len(asked) == 0 {
		return
	}
	nonce := a.draw()
	for _, d := range asked {
		a.files[d].poll.nonce = nonce
	}
	for page := range slices.Chunk(asked, a.config.SweepPage) {
		for _, w := range a.fellows {
			a.poster.Post(env, w.addr, &message.FileSweep{Group: a.config.Group, Nonce: nonce, Files: page})
		}
	}
}

// onSweep leaves a peer's question to the next Sweep, which knows what is in use.
func (a *Archive) onSweep(env node.Env, w *fellow, from node.Peer, m *message.FileSweep) {
	if w.question == nil || w.question.nonce != m.Nonce {
		w.question = &question{nonce: m.Nonce}
	}
	if len(w.question.files)+len(m.Files) > a.config.FilesMax {
		a.ignore(env, from, m, "it asks about more files than there can be")
		return
	}
	w.question.files = append(w.question.files, m.Files...)
}

// answerPolls answers the peers: it lists the files that this member neither names nor has kept
// for SweepAge.
func (a *Archive) answerPolls(env node.Env, inUse map[message.FileDigest]bool) {
	for _, w := range a.fellows {
		q := w.question
		if w.question = nil; q == nil {
			continue
		}
		free := slices.DeleteFunc(q.files, func(d message.FileDigest) bool {
			f := a.files[d]
			return inUse[d] || f != nil && !a.idle(env, f)
		})
		if len(free) < len(q.files) {
			env.Emit(event.Reached{What: "archive/spared-for-a-fellow"})
		}
		for page := range slices.Chunk(free, a.config.SweepPage) {
			a.poster.Post(env, w.addr, &message.FileFree{Group: a.config.Group, Nonce: q.nonce, Files: page})
		}
	}
}

// onFree counts a peer's answer; the next Sweep acts on it.
func (a *Archive) onFree(env node.Env, w *fellow, m *message.FileFree) {
	for _, d := range m.Files {
		f := a.files[d]
		if f == nil || f.poll == nil || f.poll.nonce != m.Nonce || env.Now().Sub(f.poll.asked) > a.config.quarter() {
			continue // of an earlier poll, or too late to count with the others
		}
		f.poll.free[w.addr] = true
	}
}
