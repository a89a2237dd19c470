package archive

import (
	"crypto/sha256"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Receive handles a message, and reports whether it was one of an archive.
func (a *Archive) Receive(env node.Env, from node.Peer, m node.Message) bool {
	var group string
	switch m := m.(type) {
	case *message.FileOffer:
		group = m.Group
	case *message.FileChunk:
		group = m.Group
	case *message.FileKept:
		group = m.Group
	case *message.FileFetch:
		group = m.Group
	case *message.FileMissing:
		group = m.Group
	case *message.FileSweep:
		group = m.Group
	case *message.FileFree:
		group = m.Group
	default:
		return false
	}
	i := slices.IndexFunc(a.fellows, func(w *fellow) bool { return w.addr == from.Addr })
	switch {
	case group != a.config.Group:
		a.ignore(env, from, m, "it is of another group")
	case i < 0:
		a.ignore(env, from, m, "its sender is no member")
	default:
		a.handle(env, i, from, m)
		a.arm(env)
	}
	return true
}

func (a *Archive) handle(env node.Env, i int, from node.Peer, m node.Message) {
	w := a.fellows[i]
	if !w.heard {
		w.heard = true
		if w.wait > a.config.Retry {
			w.wait, w.due = a.config.Retry, env.Now() // it answers again
		}
	}
	switch m := m.(type) {
	case *message.FileOffer:
		a.onOffer(env, from, m)
	case *message.FileChunk:
		a.onChunk(env, from, m)
	case *message.FileKept:
		a.onKept(env, w, from, m)
	case *message.FileFetch:
		a.onFetch(env, from, m)
	case *message.FileMissing:
		a.onMissing(env, i, m)
	case *message.FileSweep:
		a.onSweep(env, w, from, m)
	case *message.FileFree:
		a.onFree(env, w, m)
	}
}

// ignore reports a message that makes no sense.
func (a *shelf) ignore(env node.Env, from node.Peer, m node.Message, why string) {
	env.Emit(event.Ignored{Peer: from.ID, Message: message.Name(m.Kind()), Why: why})
}

func (a *Archive) onOffer(env node.Env, from node.Peer, m *message.FileOffer) {
	if f := a.expect(env, from, m, m.File, m.Length); f != nil {
		a.answer(env, f, asker{from.Addr, m.Nonce})
	}
}

// expect returns the file that a peer wants kept, and adds a new one if needed. It returns nil
// if the length makes no sense or there is no room; the peer tries again.
func (a *Archive) expect(env node.Env, from node.Peer, m node.Message, d message.FileDigest, length uint64) *file {
	if length == 0 || length > FileMax {
		a.ignore(env, from, m, ErrLength.Error())
		return nil
	}
	f := a.files[d]
	switch {
	case f == nil:
		if !a.room(length) || len(a.arriving) >= arrivingMax {
			env.Emit(event.Shed{Reason: event.ShedBound, What: "file " + d.String(), Why: ErrFull.Error()})
			return nil
		}
		f = a.add(d, length)
		a.arriving[d] = f
	case f.length == 0: // this member fetches it, and a peer now offers it
		if !a.fits(f, length) {
			a.forget(env, f, ErrFull)
			return nil
		}
		a.resize(f, length)
	case f.length != length:
		a.ignore(env, from, m, "its length is not what another said")
		if f.bytes == nil {
			a.restart(f) // one of the two lengths is wrong, and this member cannot know which
		}
		return nil
	}
	f.moved = env.Now()
	return f
}

// restart drops the chunks so far, and the length.
func (a *shelf) restart(f *file) {
	a.resize(f, 0)
	f.chunks, f.next = nil, 0
}

// answer reports how much of a file is here. Once the file is on disk, all that asked get an
// answer again.
func (a *sender) answer(env node.Env, f *file, who asker) {
	if f.disk != stored {
		f.askers = slices.DeleteFunc(f.askers, func(o asker) bool { return o.addr == who.addr })
		f.askers = append(f.askers, who)
	}
	a.poster.Post(env, who.addr, &message.FileKept{
		Group: a.config.Group, File: f.digest, Nonce: who.nonce, Next: f.next, Whole: f.disk == stored,
	})
}

func (a *Archive) onChunk(env node.Env, from node.Peer, m *message.FileChunk) {
	f := a.files[m.File]
	if m.Nonce == 0 && (f == nil || f.fetch == nil) {
		return // the answer to a fetch that has ended
	}
	f = a.expect(env, from, m, m.File, m.Length)
	if f == nil {
		return
	}
	n := uint64(len(m.Data))
	if m.Offset > m.Length || n > m.Length-m.Offset || n < chunkMin && m.Offset+n != m.Length || n == 0 {
		a.ignore(env, from, m, "its bytes are not within the file")
		return
	}
	if f.bytes == nil && m.Offset == f.next {
		f.chunks = append(f.chunks, m.Data)
		f.next += n
		if f.next == f.length && !a.whole(env, from, f, m) {
			return
		}
		if f.fetch != nil {
			a.fetchOn(env, f)
		}
	}
	if m.Nonce != 0 {
		a.answer(env, f, asker{from.Addr, m.Nonce})
	}
}

// whole joins the chunks, and accepts them if their digest is right.
func (a *Archive) whole(env node.Env, from node.Peer, f *file, m *message.FileChunk) bool {
	b := f.chunks[0]
	if len(f.chunks) > 1 {
		b = slices.Concat(f.chunks...)
	}
	if message.FileDigest(sha256.Sum256(b)) != f.digest {
		a.ignore(env, from, m, "the digest of the file is wrong")
		if f.fetch == nil {
			a.forget(env, f, ErrDropped)
			return false
		}
		a.restart(f)
		f.fetch.bent++
		a.fetchNext(env, f, true)
		return false
	}
	store := f.fetch == nil || f.fetch.store || len(f.askers) > 0 || m.Nonce != 0
	a.become(env, f, b)
	if store {
		a.write(env, f)
	} else {
		a.forget(env, f, nil) // a borrowed file does not stay
	}
	return true
}
