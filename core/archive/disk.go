package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// diskState says how much of a file this member's disk has.
type diskState uint8

const (
	nowhere diskState = iota
	writing
	refused // the disk failed; a timer tries again
	stored
)

const marker = "whole"

func (a *shelf) prefix() string { return "file/" + a.config.Group + "/" }

func (a *shelf) key(d message.FileDigest, name string) string {
	var text [2 * len(d)]byte
	hex.Encode(text[:], d[:])
	return "file/" + a.config.Group + "/" + string(text[:]) + "/" + name
}

// record names the n-th piece; the names sort as the numbers do.
func record(n int) string { return fmt.Sprintf("%04d", n) }

func (a *shelf) records(f *file) int {
	return (int(f.length) + a.config.ChunkBytes - 1) / a.config.ChunkBytes
}

// write puts the next piece of a file. The last one goes with the marker, which holds their
// count: the next start may cut pieces differently. Only one piece is open at a time, so other
// writes of the node wait for one piece at most.
func (a *shelf) write(env node.Env, f *file) {
	f.disk = writing
	n, last := f.written, f.written == a.records(f)-1
	begin := n * a.config.ChunkBytes
	end := min(begin+a.config.ChunkBytes, len(f.bytes))
	puts := []node.Record{{Key: a.key(f.digest, record(n)), Value: f.bytes[begin:end:end]}}
	if last {
		puts = append(puts, node.Record{Key: a.key(f.digest, marker), Value: binary.BigEndian.AppendUint32(nil, uint32(n+1))})
	}
	a.token++
	t := node.WriteIDOf(node.PartArchive, a.token)
	a.writes[t] = f
	env.Store().Put(puts, t)
}

// Stored handles a completion of the store.
func (a *Archive) Stored(env node.Env, in *node.Input) {
	f := a.writes[in.WriteID]
	delete(a.writes, in.WriteID)
	if f == nil || a.files[f.digest] != f {
		return // an erasure, or the piece of a file dropped meanwhile
	}
	if in.Err != nil {
		env.Emit(event.StoreFailed{What: "file " + f.digest.String(), Err: in.Err.Error()})
		f.disk = refused
		a.failed = append(a.failed, f)
		a.arm(env)
		return
	}
	f.written++
	if f.written < a.records(f) {
		a.write(env, f)
		return
	}
	f.disk = stored
	a.lacked = slices.DeleteFunc(a.lacked, func(d message.FileDigest) bool { return d == f.digest }) // its record may end, and the file go
	askers := f.askers
	f.askers = nil
	for _, who := range askers {
		a.answer(env, f, who)
	}
	if f.keep != nil {
		f.keep.here = true
		a.judge(env, f)
	}
}

// Records returns what the disk of a member has of a whole file.
func Records(group string, b []byte) (records []node.Record) {
	a := shelf{config: Default()}
	a.config.Group = group
	f := &file{digest: DigestOf(b), length: uint64(len(b))}
	count := a.records(f)
	for n := range count {
		begin := n * a.config.ChunkBytes
		end := min(begin+a.config.ChunkBytes, len(b))
		records = append(records, node.Record{Key: a.key(f.digest, record(n)), Value: b[begin:end:end]})
	}
	return append(records, node.Record{Key: a.key(f.digest, marker), Value: binary.BigEndian.AppendUint32(nil, uint32(count))})
}

// Kept returns a file that is on this member's disk. Do not change it.
func (a *shelf) Kept(d message.FileDigest) ([]byte, bool) {
	if f := a.files[d]; f != nil && f.disk == stored {
		return f.bytes, true
	}
	return nil, false
}

// erase deletes all records that a file may have on disk, the open piece included: the store
// keeps the order of Puts.
func (a *shelf) erase(env node.Env, f *file) {
	if f.disk == nowhere {
		return
	}
	var names []string
	for n := range f.written {
		names = append(names, record(n))
	}
	if f.disk != stored {
		names = append(names, record(f.written))
	}
	a.delete(env, f.digest, append(names, marker))
}

func (a *shelf) delete(env node.Env, d message.FileDigest, names []string) {
	puts := make([]node.Record, len(names))
	for i, name := range names {
		puts[i].Key = a.key(d, name)
	}
	a.token++
	env.Store().Put(puts, node.WriteIDOf(node.PartArchive, a.token))
}

// load takes in whole files and deletes the rest.
func (a *shelf) load(env node.Env) {
	found := env.Store().Load(a.prefix())
	for len(found) > 0 {
		id, _, _ := strings.Cut(strings.TrimPrefix(found[0].Key, a.prefix()), "/")
		n := slices.IndexFunc(found, func(r node.Record) bool { return !strings.HasPrefix(r.Key, a.prefix()+id+"/") })
		if n < 0 {
			n = len(found)
		}
		a.restore(env, id, found[:n])
		found = found[n:]
	}
}

// restore takes in one file if its records hash to its name.
func (a *shelf) restore(env node.Env, id string, records []node.Record) {
	var d message.FileDigest
	if n, err := hex.Decode(d[:], []byte(id)); err != nil || n != len(d) {
		return // another's record
	}
	var names []string
	var pieces [][]byte
	count := 0
	for _, r := range records {
		name := r.Key[strings.LastIndexByte(r.Key, '/')+1:]
		names = append(names, name)
		if name != marker {
			pieces = append(pieces, r.Value)
		} else if len(r.Value) == 4 {
			count = int(binary.BigEndian.Uint32(r.Value))
		}
	}
	if count > 0 && count <= len(pieces) {
		if count < len(pieces) { // an erasure failed
			a.delete(env, d, names[count:len(pieces)])
		}
		pieces = pieces[:count]
		b := pieces[0]
		if len(pieces) > 1 {
			b = slices.Concat(pieces...)
		}
		if len(b) <= FileMax && message.FileDigest(sha256.Sum256(b)) == d {
			f := a.add(d, uint64(len(b)))
			f.bytes, f.next, f.disk, f.moved = b, f.length, stored, env.Now()
			f.written = len(pieces)
			return
		}
	}
	env.Emit(event.Reached{What: "archive/torn"})
	a.delete(env, d, names)
}
