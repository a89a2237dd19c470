package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"hyperscale/core/node"
)

const wait = 10 * time.Second

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// completion is a report of Serve.
type completion struct {
	writeID node.WriteID
	err     error
}

func serve(s Store) chan completion {
	told := make(chan completion, 10000)
	s.Serve(func(t node.WriteID, err error) { told <- completion{t, err} })
	return told
}

func next(t testing.TB, told chan completion) completion {
	t.Helper()
	select {
	case c := <-told:
		return c
	case <-time.After(wait):
		t.Fatal("no completion")
		return completion{}
	}
}

func open(t testing.TB, dir string) *Bolt {
	t.Helper()
	s, err := Open(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Kill() }) // most tests have closed it
	return s
}

// TestRecordsSurvive holds both stores against a map, over restarts of the one
// on disk.
func TestRecordsSurvive(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		model := map[string]string{}
		var s Store = must(Open(dir, "a"))
		memory := NewMemory(1)
		defer func() { _ = s.Close(); _ = memory.Close() }()
		told, toldMemory := serve(s), serve(memory)
		writeID := node.WriteID(0)
		key := rapid.StringMatching(`(job|slice)/[a-c]{1,2}`)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				writeID++
				var disk, mem []node.Record
				for range rapid.IntRange(1, 3).Draw(t, "records") {
					k := key.Draw(t, "key")
					value := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "value")
					if rapid.Bool().Draw(t, "delete") {
						value = nil
						delete(model, k)
					} else {
						value = append([]byte{}, value...)
						model[k] = string(value)
					}
					disk = append(disk, node.Record{Key: k, Value: value})
					mem = append(mem, node.Record{Key: k, Value: bytes.Clone(value)})
				}
				s.Put(disk, writeID)
				memory.Put(mem, writeID)
				for _, c := range []completion{<-told, <-toldMemory} {
					if c.err != nil || c.writeID != writeID {
						t.Fatalf("completion %v, want token %d", c, writeID)
					}
				}
			},
			"restart": func(t *rapid.T) {
				before := s.Incarnation()
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = must(Open(dir, "a"))
				told = serve(s)
				if s.Incarnation() != before+1 {
					t.Fatalf("incarnation %d after %d", s.Incarnation(), before)
				}
			},
			"": func(t *rapid.T) {
				prefix := rapid.SampledFrom([]string{"", "job/", "slice/", "slice/b", "x"}).Draw(t, "prefix")
				got, mem := s.Load(prefix), memory.Load(prefix)
				if d := cmp.Diff(got, mem); d != "" {
					t.Fatalf("disk and memory differ:\n%s", d)
				}
				want := 0
				for k := range model {
					if strings.HasPrefix(k, prefix) {
						want++
					}
				}
				if len(got) != want {
					t.Fatalf("%d records, want %d", len(got), want)
				}
				for i, r := range got {
					if model[r.Key] != string(r.Value) || i > 0 && got[i-1].Key >= r.Key {
						t.Fatalf("record %q = %q, want %q, sorted", r.Key, r.Value, model[r.Key])
					}
				}
			},
		})
	})
}

// must returns a store that does not sync its Puts: where a test does not concern the disk,
// waiting for it would take most of the time.
func must(s *Bolt, err error) *Bolt {
	if err != nil {
		panic(err)
	}
	s.db.NoSync = true
	return s
}

func TestCompletionsComeInOrderAndCommitsAreShared(t *testing.T) {
	s := open(t, t.TempDir())
	const puts = 2000
	for i := range puts {
		s.Put([]node.Record{{Key: "k", Value: fmt.Append(nil, i)}}, node.WriteID(i))
	}
	told := serve(s)
	for i := range puts {
		if c := next(t, told); c.writeID != node.WriteID(i) || c.err != nil {
			t.Fatalf("completion %v, want token %d", c, i)
		}
	}
	if got := s.Load("k"); string(got[0].Value) != fmt.Sprint(puts-1) {
		t.Errorf("the last Put did not win: %s", got[0].Value)
	}
	if got := s.Stats(); got.Puts != puts || got.Commits > puts/10 {
		t.Errorf("%d puts took %d commits: they were not shared", got.Puts, got.Commits)
	}
}

func TestBoundsOfRecords(t *testing.T) {
	long := strings.Repeat("k", KeyMax+1)
	for _, s := range []Store{open(t, t.TempDir()), NewMemory(1)} {
		told := serve(s)
		for i, c := range []struct {
			record node.Record
			want   string
		}{
			{node.Record{Key: "", Value: []byte{1}}, "the key is empty"},
			{node.Record{Key: long}, "the key has 257 bytes, at most 256 are kept"},
			{node.Record{Key: "\xff"}, "the key is no text"},
			{node.Record{Key: "k", Value: make([]byte, ValueMax+1)}, "the value has 1048577 bytes, at most 1048576 are kept"},
			{node.Record{Key: long[1:], Value: make([]byte, ValueMax)}, ""},
		} {
			// A record that cannot be kept takes those of its Put with it, no others.
			s.Put([]node.Record{{Key: "beside", Value: []byte{1}}, c.record}, node.WriteID(i))
			got := next(t, told)
			var bad *RecordError
			if c.want == "" && got.err != nil || c.want != "" && (!errors.As(got.err, &bad) || !strings.Contains(bad.Error(), c.want)) {
				t.Errorf("got %v, want %q", got.err, c.want)
			}
			if kept := len(s.Load("beside")); (kept > 0) != (c.want == "") {
				t.Errorf("%d records of a Put that %q", kept, c.want)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOneDirectoryServesOneNode(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for _, c := range []struct {
		what, dir, want string
		id              node.ID
		prepare         func()
	}{
		{"second process", dir, "another process uses it: stop that one, or choose another --data", "a", func() {}},
		{"another node's", dir, `it belongs to node "a", not to "b": choose another --data, or start with --id a`, "b", func() {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"below a file", filepath.Join(dir, fileName, "x"), "make it a directory that this user can write, or choose another --data", "a", func() {}},
		{"where none can be made", "/proc/none/x", "make it a directory that this user can write, or choose another --data", "a", func() {}},
		{"damaged", t.TempDir(), "move the directory away and start with an empty one", "a", func() {}},
		{"of a later version", dir, "use the version of hyperscale that wrote it", "a", func() { setFormat(t, dir, 9) }},
	} {
		c.prepare()
		if c.what == "damaged" {
			if err := os.WriteFile(filepath.Join(c.dir, fileName), bytes.Repeat([]byte("x"), 1<<16), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Open(c.dir, c.id)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.dir) {
			t.Errorf("%s: got %v, want %q and the directory in it", c.what, err, c.want)
		}
		if got != nil {
			_ = got.Close()
		}
	}
}

func TestUnwritableDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "data"), "a"); err == nil || !strings.Contains(err.Error(), "that this user can write") {
		t.Errorf("got %v", err)
	}
}

func setFormat(t *testing.T, dir string, format byte) {
	db, err := bbolt.Open(filepath.Join(dir, fileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketNode()).Put([]byte("format"), []byte{format}) }); err != nil {
		t.Fatal(err)
	}
}

// TestCommitsAreSynced looks at the switches themselves: a killed process cannot
// tell, as the system keeps its pages.
func TestCommitsAreSynced(t *testing.T) {
	if db := open(t, t.TempDir()).db; db.NoSync || db.NoGrowSync {
		t.Error("bbolt does not sync: a power cut loses what completed")
	}
}

func TestCloseWritesWhatWaits(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.Put([]node.Record{{Key: "k", Value: []byte{1}}}, 1)
	serve(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.Put([]node.Record{{Key: "late", Value: []byte{1}}}, 2)
	if got := open(t, dir).Load(""); len(got) != 1 || got[0].Key != "k" {
		t.Errorf("got %v, want k alone", got)
	}
}

// FuzzRecord: whatever is put is refused, or given back the same after a
// restart.
func FuzzRecord(f *testing.F) {
	f.Add("job/a", []byte("x"), "job/")
	f.Add("", []byte{}, "")
	f.Add("\xff\x00", []byte(nil), "\xff")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, key string, value []byte, prefix string) {
		s := must(Open(dir, "a"))
		told := serve(s)
		value = append([]byte{}, value...)
		s.Put([]node.Record{{Key: key, Value: value}}, 1)
		err := next(t, told).err
		if refused := check([]byte(key), value) != nil; refused != (err != nil) {
			t.Fatalf("check and Put disagree: %v", err)
		}
		if e := s.Close(); e != nil {
			t.Fatal(e)
		}
		s = must(Open(dir, "a"))
		found := false
		for _, r := range s.Load(prefix) {
			if !strings.HasPrefix(r.Key, prefix) {
				t.Fatalf("key %q under prefix %q", r.Key, prefix)
			}
			found = found || r.Key == key && bytes.Equal(r.Value, value)
		}
		if want := err == nil && strings.HasPrefix(key, prefix); found != want {
			t.Fatalf("key %q found under %q: %v, want %v", key, prefix, found, want)
		}
		if err == nil {
			told = serve(s)
			s.Put([]node.Record{{Key: key}}, 2)
			if c := next(t, told); c.err != nil {
				t.Fatal(c.err)
			}
		}
		if e := s.Close(); e != nil {
			t.Fatal(e)
		}
	})
}

// BenchmarkPut is a durable Put of 200 bytes, alone and in company.
func BenchmarkPut(b *testing.B) {
	for _, company := range []int{1, 64} {
		b.Run(fmt.Sprintf("waiting=%d", company), func(b *testing.B) {
			s := open(b, b.TempDir())
			told := serve(s)
			value := make([]byte, 200)
			b.ReportAllocs()
			for b.Loop() {
				for i := range company {
					s.Put([]node.Record{{Key: fmt.Sprint(i), Value: value}}, 1)
				}
				for range company {
					<-told
				}
			}
		})
	}
}
