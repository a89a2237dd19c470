package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// An archive keeps its bounds under any Keeps, fetches and offers. Keep rejects only files of
// an illegal length or without room. Fetch fills the last place.
func TestArchiveKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var outcomes []Outcome
		var x *toy
		e := world(1, 3, func(o *toy) {
			x = o
			x.config.FilesMax, x.config.BytesMax = rapid.IntRange(1, 4).Draw(t, "files max"), rapid.OneOf(rapid.Int64Range(5000, 20_000), rapid.Int64Range(1, 20_000)).Draw(t, "bytes max")
			x.outcome = func(o Outcome) { outcomes = append(outcomes, o) }
		})
		e.Discard = true
		e.Start()
		var files [][]byte
		for i, n := range []int{1, 100, 1024, 5000, 8000, 15000} {
			files = append(files, bytes.Repeat([]byte{byte(i + 1)}, n))
		}
		files = append(files, []byte{}, make([]byte, FileMax+1))
		for ticket := range uint64(rapid.IntRange(5, 30).Draw(t, "steps")) {
			outcomes = outcomes[:0]
			b := files[rapid.IntRange(0, len(files)-1).Draw(t, "file")]
			d := message.FileDigest(sha256.Sum256(b))
			known := x.files[d]
			before, size := x.Used()
			switch rapid.SampledFrom([]int{2, 3, 0, 1, 4, 5}).Draw(t, "step") {
			case 0, 1:
				x.Keep(e, b, ticket)
				var want error
				switch grows := known == nil || known.bytes == nil; {
				case len(b) == 0 || len(b) > FileMax:
					want = ErrLength
				case known == nil && before == x.config.FilesMax:
					want = ErrFull
				case known == nil && size+int64(len(b)) > x.config.BytesMax, known != nil && grows && size-int64(known.length)+int64(len(b)) > x.config.BytesMax:
					want = ErrFull
				}
				told := x.Take()
				failed := slices.IndexFunc(told, func(o Outcome) bool { return o.Kind == Failed && o.Ticket == ticket })
				if (failed >= 0) != (want != nil) || failed >= 0 && !errors.Is(told[failed].Err, want) {
					t.Fatalf("Keep of %d bytes beside %d files of %d bytes: %v, want %v", len(b), before, size, told, want)
				}
			case 2:
				e.Command(&message.FileFetch{Group: "x", File: d, Offset: ticket})
				if known == nil && (len(outcomes) == 1) != (before == x.config.FilesMax || size > x.config.BytesMax) {
					t.Fatalf("Fetch beside %d of %d files: %v", before, x.config.FilesMax, outcomes)
				}
			case 3:
				if rapid.Bool().Draw(t, "of one that is asked for") {
					for _, o := range files[:6] {
						if k := x.files[message.FileDigest(sha256.Sum256(o))]; k != nil && k.fetch != nil && k.length == 0 {
							b, d, known = o, k.digest, k
						}
					}
				}
				if n := uint64(len(b)); n > 0 && n <= FileMax {
					fits := known != nil && known.fetch != nil && known.length == 0 && size+int64(n) <= x.config.BytesMax
					for at := uint64(0); at < n; at += chunkMin {
						e.ReceiveDatagram(peer(2), &message.FileChunk{Group: "gates", File: d, Length: n, Offset: at, Nonce: ticket, Data: b[at:min(at+chunkMin, n)]})
					}
					got, whole := x.Have(d)
					if fits && !(whole && bytes.Equal(got, b)) {
						t.Fatalf("a file that is asked for arrives beside %d of %d files and is not here: %v", before, x.config.FilesMax, outcomes)
					}
				}
			case 4:
				e.ReceiveDatagram(peer(3), &message.FileOffer{Group: "gates", File: d, Length: max(1, uint64(len(b))), Nonce: ticket + 1})
			case 5:
				e.Advance(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond)
			}
			if n, sum := x.Used(); n > x.config.FilesMax || sum > x.config.BytesMax {
				t.Fatalf("%d files of %d bytes, want at most %d of %d", n, sum, x.config.FilesMax, x.config.BytesMax)
			}
			if rapid.IntRange(0, 9).Draw(t, "drop") == 0 {
				x.Drop(e, d)
				x.Take()
				if _, here := x.Have(d); here {
					t.Fatal("a dropped file is here")
				}
			}
		}
	})
}

// settle completes all writes, and those that follow them.
func settle(e *nodetest.Env) {
	for e.Pending() > 0 {
		e.Complete(e.Pending(), nil)
	}
}

// A start takes in each file whose records are whole, and erases all others. Records that
// belong to no file stay and do not count.
func TestStartTakesInWholeFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := world(1, 1, nil)
		e.Discard = true
		e.Start()
		x := func() *toy { return e.Machine().(*toy) }
		put := func(key string, value []byte) { // nil deletes
			e.Store().Put([]node.Record{{Key: key, Value: value}}, node.WriteIDOf(node.PartArchive, 1<<20))
		}
		whole := map[message.FileDigest][]byte{}
		damaged := map[message.FileDigest]string{}
		for file := range 7 {
			if rapid.Bool().Draw(t, "keep") {
				b := content(file)
				d := x().Keep(e, b, 0)
				whole[d] = b
			}
		}
		x().Take()
		settle(e)
		for file := range 7 {
			b := content(file)
			d := message.FileDigest(sha256.Sum256(b))
			pieces := (len(b) + chunkMin - 1) / chunkMin
			if whole[d] == nil {
				continue
			}
			piece := x().key(d, record(rapid.IntRange(0, pieces-1).Draw(t, "piece")))
			switch how := rapid.SampledFrom([]string{"", "", "lost", "bent", "unmarked", "mark bent", "mark cut", "longer"}).Draw(t, "damage"); how {
			case "":
				continue
			case "lost":
				put(piece, nil)
				damaged[d] = how
			case "bent":
				put(piece, []byte{99})
				damaged[d] = how
			case "unmarked":
				put(x().key(d, marker), nil)
				damaged[d] = how
			case "mark bent":
				put(x().key(d, marker), binary.BigEndian.AppendUint32(nil, uint32(pieces+1)))
				damaged[d] = how
			case "mark cut":
				put(x().key(d, marker), []byte{0, 0, 1})
				damaged[d] = how
			case "longer": // the erasure of a longer run of records failed: not of this file
				put(x().key(d, record(pieces)), []byte("rest"))
			}
		}
		strange := "file/gates/" + rapid.StringMatching(`[g-z0-9]{1,8}`).Draw(t, "strange") + "/0000"
		put(strange, []byte("x"))
		settle(e)
		e.Crash()
		e.Start()
		settle(e)
		want := []string{strange}
		count, size := 0, 0
		//lint:orderfree sums, and keys that are sorted
		for d, b := range whole {
			got, ok := x().Have(d)
			if ok != (damaged[d] == "") || ok && !bytes.Equal(got, b) {
				t.Fatalf("%d bytes, damage %q: here %v, right %v", len(b), damaged[d], ok, bytes.Equal(got, b))
			}
			if !ok {
				continue
			}
			count, size = count+1, size+len(b)
			want = append(want, x().key(d, marker))
			for n := range (len(b) + chunkMin - 1) / chunkMin {
				want = append(want, x().key(d, record(n)))
			}
		}
		slices.Sort(want)
		if got := e.Disk(); !slices.Equal(got, want) {
			t.Fatalf("on disk are %v, want %v; damaged %v", got, want, damaged)
		}
		if n, sum := x().Used(); n != count || sum != int64(size) {
			t.Fatalf("%d files of %d bytes, want %d of %d", n, sum, count, size)
		}
	})
}

// Distinct kinds of outcomes have distinct names, and other numbers none.
func TestOutcomesHaveDistinctNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.OneOf(rapid.Uint8Range(0, uint8(Failed)+1), rapid.Uint8())
		a, b := OutcomeKind(kind.Draw(t, "a")), OutcomeKind(kind.Draw(t, "b"))
		known := func(k OutcomeKind) bool { return k >= Kept && k <= Failed }
		if known(a) != (a.String() != "none") || a.String() == "" || known(a) && known(b) && (a.String() == b.String()) != (a == b) {
			t.Fatalf("kinds %d and %d are %v and %v", a, b, a, b)
		}
	})
}

// A peer asks again and again which files it may sweep: the member remembers at most as many
// files as it may have.
func TestPollsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := world(1, 3, nil)
		e.Discard = true
		e.Start()
		x := e.Machine().(*toy)
		kept, nonce := 0, uint64(0) // the model: files of the open question
		for range rapid.IntRange(1, 12).Draw(t, "polls") {
			n, of := rapid.IntRange(1, 2*x.config.FilesMax).Draw(t, "files"), rapid.Uint64Range(1, 2).Draw(t, "nonce")
			m := &message.FileSweep{Group: "gates", Nonce: of}
			for i := range n {
				m.Files = append(m.Files, message.FileDigest(sha256.Sum256([]byte(fmt.Sprint(i)))))
			}
			if of != nonce {
				kept, nonce = 0, of
			}
			if kept+n <= x.config.FilesMax {
				kept += n
			}
			e.ReceiveDatagram(peer(2), m)
			x.Sizes(func(what string, got, most int) {
				if what == "archive/polled by g2:1" && (got != kept || got > most) {
					t.Fatalf("%s: %d files of at most %d, want %d", what, got, most, kept)
				}
			})
		}
	})
}
