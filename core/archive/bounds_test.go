package archive

import (
	"crypto/sha256"
	"errors"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Half of an even group is no majority: Kept needs three of four.
func TestHalfOfTheGroupKeepsNothing(t *testing.T) {
	var archive *toy
	w := world(1, 4, func(t *toy) { archive = t })
	w.Discard = true
	nonce := map[node.Addr]uint64{}
	w.WatchDatagram = func(to node.Addr, m node.Message) {
		if c, ok := m.(*message.FileChunk); ok {
			nonce[to] = c.Nonce
		}
	}
	w.Start()
	b := content(1)
	d := message.FileDigest(sha256.Sum256(b))
	w.Command(&message.FileChunk{Group: "x", File: d, Length: 1, Nonce: 7, Data: b})
	answer := func(i int) bool {
		w.ReceiveDatagram(peer(i), &message.FileKept{Group: "gates", File: d, Nonce: nonce[addr(i)], Next: uint64(len(b)), Whole: true})
		return archive.files[d].keep.done
	}
	if answer(2) {
		t.Error("kept by two of four")
	}
	if answer(2) {
		t.Error("one that says so twice counts twice")
	}
	if !answer(3) {
		t.Error("three of four have it, and it is not kept")
	}
}

// The bounds hold exactly, to one file and one byte, and a removed file makes room.
func TestBoundsAreExact(t *testing.T) {
	c := config(1, 1)
	c.FilesMax, c.BytesMax = 2, 100
	a := New(c, nil)
	env := world(1, 1, nil)
	keep := func(n int, fill byte) (message.FileDigest, bool) {
		b := make([]byte, n)
		b[0] = fill
		d := a.Keep(env, b, 1)
		o := a.Take()
		return d, len(o) == 0 || o[0].Kind != Failed
	}
	first, ok := keep(60, 1)
	if _, more := keep(41, 2); !ok || more {
		t.Fatalf("60 of 100 bytes: %v, and 41 more: %v", ok, more)
	}
	if _, ok := keep(40, 3); !ok {
		t.Fatal("100 of 100 bytes are refused")
	}
	if a.Drop(env, first); a.bytes != 40 {
		t.Fatalf("%d bytes after a drop, want 40", a.bytes)
	}
	a.Take() // the first request gets its outcome
	if _, ok := keep(1, 4); !ok {
		t.Fatal("a second of two files is refused")
	}
	if _, ok := keep(1, 5); ok {
		t.Fatal("a third of two files is taken")
	}
}

// A sweep spares a file while a fetch asks for it, however old the fetch is.
func TestAFetchIsNotSwept(t *testing.T) {
	var archive *toy
	w := world(1, 3, func(t *toy) { archive = t })
	w.Start()
	d := message.FileDigest{1}
	archive.Fetch(w, d, 1)
	archive.files[d].moved = w.Now().Add(-2 * archive.config.SweepAge)
	archive.Sweep(w, nil)
	if o := archive.Take(); len(o) != 0 || archive.files[d] == nil {
		t.Errorf("a fetch was swept: %+v", o)
	}
}

// A failed write is repeated, unless the file was dropped meanwhile.
func TestADroppedFileIsNotWrittenAgain(t *testing.T) {
	a := New(config(1, 1), nil)
	env := world(1, 1, nil)
	d := a.Keep(env, content(1), 1)
	//lint:orderfree there is one
	for writeID := range a.writes {
		a.Stored(env, &node.Input{Kind: node.InputStored, WriteID: writeID, Err: errors.New("full")})
	}
	if len(a.failed) != 1 {
		t.Fatalf("%d files are to be written again, want one", len(a.failed))
	}
	a.Drop(env, d)
	writes := len(a.writes)
	a.Fire(env, node.Key(node.PartArchive, node.ArchiveRetry))
	if len(a.writes) > writes {
		t.Error("a dropped file was written again")
	}
}

// A member that waits for a file to be stored gets one answer.
func TestAskersAreAnsweredOnce(t *testing.T) {
	var archive *toy
	w := world(1, 3, func(t *toy) { archive = t })
	w.Start()
	d := archive.Keep(w, content(1), 1)
	f := archive.files[d]
	f.askers = append(f.askers, asker{addr: addr(2), nonce: 7})
	//lint:orderfree there is one
	for writeID := range archive.writes {
		archive.Stored(w, &node.Input{Kind: node.InputStored, WriteID: writeID})
	}
	if len(f.askers) != 0 {
		t.Errorf("%d still wait for what is stored", len(f.askers))
	}
}

// A file is missing if all peers say so in one round. It is not if one says so twice and
// another is silent.
func TestOneFellowIsNotTwo(t *testing.T) {
	var archive *toy
	w := world(1, 3, func(t *toy) { archive = t })
	w.Start()
	d := message.FileDigest{1}
	archive.Fetch(w, d, 1)
	f := archive.files[d]
	for _, missing := range []bool{true, false, true, false} { // two rounds
		archive.fetchNext(w, f, missing)
	}
	if o := archive.Take(); len(o) != 0 {
		t.Fatalf("told %+v while one fellow is silent", o)
	}
	for range 2 {
		archive.fetchNext(w, f, true)
	}
	if o := archive.Take(); len(o) != 1 || !errors.Is(o[0].Err, ErrMissing) {
		t.Errorf("told %+v when both have said that they do not have it", o)
	}
}
