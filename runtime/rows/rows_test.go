package rows

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/workflow/feed"
)

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func people(n int) string {
	var b strings.Builder
	b.WriteString("id,name\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,\"name %d\"\n", i, i)
	}
	return b.String()
}

// What is mapped is the file's rows, also when the file is gone, and cannot be changed.
func TestSheet(t *testing.T) {
	for _, n := range []int{1, 3, 4, 5, 10_000} {
		text := people(n)
		path := write(t, t.TempDir(), "people.csv", text)
		s, err := Read(filepath.Dir(path), filepath.Base(path), false)
		if err != nil {
			t.Fatal(err)
		}
		name := s.Name("people.csv")
		if name.Rows != uint64(n) || name.Bytes != uint64(len(text)) || name.Digest != sha256.Sum256([]byte(text)) || fmt.Sprint(name.Columns) != "[id name]" {
			t.Errorf("%d rows are told as %+v", n, name)
		}
		if err := os.Truncate(path, 3); err != nil {
			t.Fatal(err)
		}
		table, err := Map(int(s.File().Fd()), &name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		r := feed.NewReader(table)
		for i := range n {
			if got, want := string(r.Read(uint64(i))[1]), fmt.Sprintf("name %d", i); got != want {
				t.Fatalf("row %d is %q, want %q", i, got, want)
			}
		}
	}
}

func TestSealed(t *testing.T) {
	s, err := Read(filepath.Dir(write(t, t.TempDir(), "people.csv", people(9))), "people.csv", false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.File().Truncate(1); err == nil {
		t.Error("it was made shorter")
	}
	if _, err := s.File().WriteAt([]byte{1}, 0); err == nil {
		t.Error("it was written")
	}
	if _, err := unix.Mmap(int(s.File().Fd()), 0, 10, unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		t.Error("it was mapped to be written")
	}
	name := s.Name("x")
	name.Bytes += 8
	if _, err := Map(int(s.File().Fd()), &name); err == nil {
		t.Error("it was mapped at another size")
	}
	plain, err := os.Open(write(t, t.TempDir(), "x", people(9)))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := Map(int(plain.Fd()), &name); err == nil || !strings.Contains(err.Error(), "not sealed") {
		t.Errorf("a file was mapped: %v", err)
	}
}

// However many use a file, it is read once, and gone with the last.
func TestCache(t *testing.T) {
	folder := t.TempDir()
	path := write(t, folder, "people.csv", people(1000))
	s, err := Read(filepath.Dir(path), filepath.Base(path), false)
	if err != nil {
		t.Fatal(err)
	}
	name := s.Name("people.csv")
	s.Close()
	c := NewCache(folder)
	var group sync.WaitGroup
	var sheets [8]*Sheet
	for i := range sheets {
		group.Go(func() { sheets[i], _ = c.Open(&name) })
	}
	group.Wait()
	for i := range sheets {
		if sheets[i] == nil || sheets[i] != sheets[0] {
			t.Fatalf("user %d got %p, the first one %p", i, sheets[i], sheets[0])
		}
		c.Close(&name)
	}
	if len(c.sheets) != 0 {
		t.Errorf("%d are kept", len(c.sheets))
	}
	if err := sheets[0].Close(); err == nil {
		t.Error("its memory was kept")
	}
}

func TestRefusals(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "people.csv", people(5))
	write(t, folder, "broken.csv", "a,b\n1\n")
	s, err := Read(folder, "people.csv", false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	change := func(f func(*message.FeedFile)) *message.FeedFile {
		n := s.Name("people.csv")
		f(&n)
		return &n
	}
	for _, test := range []struct {
		folder string
		name   *message.FeedFile
		want   string
	}{
		{"", change(func(*message.FeedFile) {}), "start it with --feeds FOLDER"},
		{folder, change(func(n *message.FeedFile) { n.Name = "../people.csv" }), "no path inside a folder"},
		{folder, change(func(n *message.FeedFile) { n.Name = "other.csv" }), "no such file"},
		{folder, change(func(n *message.FeedFile) { n.Bytes++ }), "bytes here and"},
		{folder, change(func(n *message.FeedFile) { n.Digest[3]++ }), "is another file here"},
		{folder, change(func(n *message.FeedFile) { n.Name, n.Bytes = "broken.csv", 6 }), "row 1 (line 2): it has 1 fields"},
	} {
		if _, err := NewCache(test.folder).Open(test.name); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	for _, path := range []string{folder, write(t, folder, "empty.csv", "")} {
		if _, err := Read(filepath.Dir(path), filepath.Base(path), false); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// A file that is read whole is mapped as it is, and described without its memory.
func TestWhole(t *testing.T) {
	for _, n := range []int{1, 7, 8, 4096, 3<<20 + 5} {
		text := strings.Repeat("x\x00\"\n", n)[:n]
		folder := t.TempDir()
		path := write(t, folder, "big.bin", text)
		name, err := Describe(filepath.Dir(path), filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		name.Name = "big.bin"
		if name.Bytes != uint64(n) || name.Digest != sha256.Sum256([]byte(text)) || !name.Whole || name.Rows != 0 {
			t.Errorf("%d bytes are described as %+v", n, name)
		}
		s, err := ReadWhole(folder, "big.bin")
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Name("big.bin"); fmt.Sprint(got) != fmt.Sprint(name) {
			t.Errorf("read as %+v, described as %+v", got, name)
		}
		data, err := MapWhole(int(s.File().Fd()), &name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if string(data) != text {
			t.Errorf("%d bytes are mapped as %d others", n, len(data))
		}
		c := NewCache(folder)
		bad := name
		bad.Digest[31]++
		if _, err := c.Open(&bad); err == nil || !strings.Contains(err.Error(), `file "big.bin" is another file here`) {
			t.Errorf("another digest: %v", err)
		}
		bad = name
		bad.Bytes++
		if _, err := c.Open(&bad); err == nil || !strings.Contains(err.Error(), "bytes here and") {
			t.Errorf("another size: %v", err)
		}
	}
}

// One file that is read as rows and whole has the memory of both.
func TestCacheKeepsRowsAndWholeFilesApart(t *testing.T) {
	folder := t.TempDir()
	path := write(t, folder, "people.csv", people(100))
	s, err := Read(filepath.Dir(path), filepath.Base(path), false)
	if err != nil {
		t.Fatal(err)
	}
	rows := s.Name("people.csv")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := Describe(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	whole.Name = "people.csv"
	c := NewCache(folder)
	a, err := c.Open(&rows)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Open(&whole)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Map(int(a.File().Fd()), &rows); err != nil {
		t.Error(err)
	}
	if data, err := MapWhole(int(b.File().Fd()), &whole); err != nil || string(data) != people(100) {
		t.Errorf("got %d bytes, %v", len(data), err)
	}
	c.Close(&rows)
	c.Close(&whole)
	if len(c.sheets) != 0 {
		t.Errorf("%d are kept", len(c.sheets))
	}
}
