package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// filled makes a store of several pages, with long values and small ones.
func filled(t testing.TB, dir string) (file string) {
	t.Helper()
	s := must(Open(dir, "a"))
	told := serve(s)
	for i := range 200 {
		s.Put([]node.Record{{Key: fmt.Sprintf("job/%04d", i), Value: []byte(strings.Repeat("v", 1+i*7%300))}}, node.WriteID(i))
	}
	s.Put([]node.Record{{Key: "file/long", Value: make([]byte, 20_000)}}, 200)
	for range 201 {
		if c := next(t, told); c.err != nil {
			t.Fatal(c.err)
		}
	}
	for i := range 50 { // some pages are free
		s.Put([]node.Record{{Key: fmt.Sprintf("job/%04d", i*3)}}, 0)
		next(t, told)
	}
	s.db.NoSync = false
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, fileName)
}

// TestDamageIsNamed: whatever happens to a file, it is refused with what is damaged and the one
// safe way on, or each record is as it was written.
func TestDamageIsNamed(t *testing.T) {
	whole, err := os.ReadFile(filled(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	clean := contents(t, whole)
	rapid.Check(t, func(t *rapid.T) {
		b := append([]byte{}, whole...)
		switch rapid.SampledFrom([]string{"flip", "cut", "page", "zeros"}).Draw(t, "how") {
		case "flip":
			for range rapid.IntRange(1, 40).Draw(t, "flips") {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
			}
		case "cut":
			b = b[:rapid.IntRange(1, len(b)-1).Draw(t, "length")]
		case "page": // one is written in another one's place
			from, to := rapid.IntRange(0, len(b)/4096-1).Draw(t, "from"), rapid.IntRange(0, len(b)/4096-1).Draw(t, "to")
			copy(b[to*4096:(to+1)*4096], whole[from*4096:])
		case "zeros":
			from := rapid.IntRange(0, len(b)-1).Draw(t, "from")
			clear(b[from:min(len(b), from+rapid.IntRange(1, 9000).Draw(t, "zeros"))])
		}
		dir, err := os.MkdirTemp("", "store")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err := os.WriteFile(filepath.Join(dir, fileName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, "a")
		if err != nil {
			if text := err.Error(); !strings.Contains(text, "move the directory away and start with an empty one") || strings.Contains(text, "goroutine") {
				t.Fatalf("%v", err)
			}
			return
		}
		defer func() { _ = s.Close() }()
		if got := fmt.Sprint(s.Load("")); got != clean {
			t.Fatal("a damaged store is opened, and its records are others")
		}
	})
}

func contents(t *testing.T, file []byte) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(open(t, dir).Load(""))
}

// TestOlderStateIsRefused: with the newest of its two first pages damaged, bbolt goes back to
// the state before its last write, which others rely on.
func TestOlderStateIsRefused(t *testing.T) {
	for page := range int64(2) {
		dir := t.TempDir()
		f, err := os.OpenFile(filled(t, dir), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte{0xff}, page*int64(os.Getpagesize())+pageHead+50); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, "a"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("page %d does not match its checksum", page)) {
			t.Errorf("page %d: %v", page, err)
		}
	}
}

// TestOneThatIsMissingShows: a leaf that lost a record, or kept an older one, has good checksums,
// and is refused for the whole.
func TestOneThatIsMissingShows(t *testing.T) {
	for what, change := range map[string]func(b *bbolt.Bucket) error{
		"a missing record": func(b *bbolt.Bucket) error { return b.Delete([]byte("job/0100")) },
		"an older record":  func(b *bbolt.Bucket) error { return b.Put([]byte("job/0100"), sealed("job/0100", []byte("old"))) },
	} {
		dir := t.TempDir()
		db, err := bbolt.Open(filled(t, dir), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(func(tx *bbolt.Tx) error { return change(tx.Bucket(bucketRecords())) }); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(dir, "a"); err == nil {
			_ = s.Close()
			t.Errorf("a store with %s is opened", what)
		} else if !strings.Contains(err.Error(), "the whole has") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestInspect: it counts what a store holds, refuses a directory in use, and changes nothing.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	file := filled(t, dir)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Inspect(dir)
	if err != nil || len(got.Damages) > 0 || got.ID != "a" || got.Incarnation != 1 || got.Records["job"].Records != 150 || got.Records["file"] != (Kind{1, 20_000}) {
		t.Errorf("%+v, %v", got, err)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Error("Inspect has changed the file")
	}
	s := open(t, dir)
	if _, err := Inspect(dir); err != ErrInUse {
		t.Errorf("in use: %v", err)
	}
	_ = s.Close()
	if _, err := Inspect(t.TempDir()); !os.IsNotExist(err) {
		t.Errorf("an empty directory: %v", err)
	}
}

// TestLostFileIsNoticed: a store whose file is deleted or replaced completes no write, and says
// so within a second, with writes and without.
func TestLostFileIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name  string
		harm  func(file string) error
		write bool
	}{
		{"deleted", os.Remove, false},
		{"deleted, then a write", os.Remove, true},
		{"replaced", func(file string) error {
			b, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file+".new", b, 0o600)
			}
			if err == nil {
				err = os.Rename(file+".new", file)
			}
			return err
		}, true},
		{"its directory is gone", func(file string) error { return os.RemoveAll(filepath.Dir(file)) }, false},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		s := open(t, dir)
		told := serve(s)
		s.Put([]node.Record{{Key: "k", Value: []byte{1}}}, 1)
		next(t, told)
		if err := c.harm(filepath.Join(dir, fileName)); err != nil {
			t.Fatal(err)
		}
		if c.write {
			s.Put([]node.Record{{Key: "k", Value: []byte{2}}}, 2)
		}
		select {
		case err := <-s.Lost():
			if !strings.Contains(err.Error(), "was deleted or replaced while the node ran") {
				t.Errorf("%s: %v", c.name, err)
			}
		case <-time.After(wait):
			t.Errorf("%s: it is not noticed", c.name)
		}
		s.Put([]node.Record{{Key: "k", Value: []byte{3}}}, 3)
		select {
		case got := <-told:
			t.Errorf("%s: write %d completes", c.name, got.writeID)
		case <-time.After(50 * time.Millisecond):
		}
		_ = s.Kill()
	}
}

// FuzzInspect: no bytes of a file make it panic.
func FuzzInspect(f *testing.F) {
	whole, err := os.ReadFile(filled(f, f.TempDir()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[:4*os.Getpagesize()], 0, byte(1))
	f.Add([]byte("x"), 0, byte(0))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, at int, by byte) {
		if len(b) > 0 {
			b[uint(at)%uint(len(b))] ^= by
		}
		if err := os.WriteFile(filepath.Join(dir, fileName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Inspect(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Damages) > damagesMax {
			t.Fatalf("%d damages", len(got.Damages))
		}
	})
}

// BenchmarkOpen reads a store of 50,000 records.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := must(Open(dir, "a"))
	told := serve(s)
	records := make([]node.Record, 500)
	for i := range 100 {
		for k := range records {
			records[k] = node.Record{Key: fmt.Sprintf("file/%d", i*500+k), Value: make([]byte, 3000)}
		}
		s.Put(records, 1)
		<-told
	}
	_ = s.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := must(Open(dir, "a")).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// leaves returns where the leaf pages are that list a key, free ones too.
func leaves(file []byte, key string) (at []int) {
	for page := 0; page+4096 <= len(file); page += 4096 {
		if strings.Contains(string(file[page:page+4096]), key) && file[page+8] == pageLeaf {
			at = append(at, page)
		}
	}
	return at
}

// TestEmptiedPageShows: bbolt's pages have no checksums. A page that says that it lists nothing
// once passed for a store that no node had written to.
func TestEmptiedPageShows(t *testing.T) {
	whole, err := os.ReadFile(filled(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if i, err := Inspect(stored(t, whole)); err != nil || len(i.Damages) > 0 {
		t.Fatalf("%v, %v", i.Damages, err)
	}
	pages := leaves(whole, keyIncarnation)
	if len(pages) == 0 {
		t.Fatal("no page has the node's entries")
	}
	emptied := append([]byte{}, whole...)
	for _, at := range pages {
		emptied[at+10], emptied[at+11] = 0, 0
	}
	if s, err := Open(stored(t, emptied), "a"); err == nil || !strings.Contains(err.Error(), "the node's entry format is missing") {
		t.Errorf("a store whose root lists nothing: %v, %v", s, err)
	}
}

// TestNodesEntriesAreChecked: one flipped bit of the id, the format or the incarnation shows,
// unless it is a later start.
func TestNodesEntriesAreChecked(t *testing.T) {
	whole, err := os.ReadFile(filled(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	for what, size := range map[string]int{keyFormat + "\x02": 1, keyID + "a": 1, keyIncarnation + "\x00\x00\x00\x00\x00\x00\x00\x01": 8} {
		places := 0
		for at := 0; ; {
			i := strings.Index(string(whole[at:]), what)
			if i < 0 {
				break
			}
			at += i + len(what)
			places++
		}
		if places == 0 {
			t.Fatalf("%q is nowhere", what)
		}
		for bit := range 8 * size {
			flipped := []byte(strings.ReplaceAll(string(whole), what, flip(what, len(what)-size, bit)))
			i, err := Inspect(stored(t, flipped))
			if err != nil {
				t.Fatal(err)
			}
			later := i.Incarnation > 1 && i.Incarnation <= 1+startsMissed
			if len(i.Damages) == 0 && !later && !i.Foreign() {
				t.Errorf("bit %d of %q is flipped, and it shows nowhere: %+v", bit, what, i)
			}
		}
	}
}

func flip(s string, from, bit int) string {
	b := []byte(s)
	b[from+bit/8] ^= 1 << (bit % 8)
	return string(b)
}

// stored returns a directory with a store's file.
func stored(t *testing.T, file []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestMadeAndNotWritten: a crash may leave the file that bbolt makes before a node writes to it.
func TestMadeAndNotWritten(t *testing.T) {
	dir := t.TempDir()
	db, err := bbolt.Open(filepath.Join(dir, fileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if i, err := Inspect(dir); err != nil || len(i.Damages) > 0 {
		t.Errorf("%v, %v", i.Damages, err)
	}
	if s := open(t, dir); s.Incarnation() != 1 {
		t.Errorf("incarnation %d", s.Incarnation())
	}
}

// TestStoreOfAnOlderVersion has no record of its own yet.
func TestStoreOfAnOlderVersion(t *testing.T) {
	dir := t.TempDir()
	db, err := bbolt.Open(filled(t, dir), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketNode())
		all, _ := decodeTotal(b.Get([]byte(keyTotal)))
		if err := all.apply(tx.Bucket(bucketRecords()), []node.Record{{Key: keySelf}}); err != nil {
			return err
		}
		return b.Put([]byte(keyTotal), all.encode())
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if i, err := Inspect(dir); err != nil || len(i.Damages) > 0 {
		t.Fatalf("%v, %v", i.Damages, err)
	}
	if s := open(t, dir); s.Incarnation() != 2 {
		t.Errorf("incarnation %d", s.Incarnation())
	}
}
