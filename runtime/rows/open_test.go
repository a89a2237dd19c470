package rows

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
)

func link(t *testing.T, to, path string) {
	t.Helper()
	_ = os.Remove(path) // the first one is not there
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// place makes a folder with a file, and a file of the same size beside that folder.
func place(t *testing.T) (folder, outside string) {
	t.Helper()
	around := t.TempDir()
	folder = filepath.Join(around, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, folder, "inside.csv", "a\ninside!\n")
	return folder, write(t, around, "outside.csv", "a\noutside\n")
}

// TestLinks: a file is read through links that stay in the folder, and through no other.
func TestLinks(t *testing.T) {
	folder, outside := place(t)
	link(t, "inside.csv", filepath.Join(folder, "near"))
	link(t, "../inside.csv", filepath.Join(folder, "sub", "up"))
	link(t, "sub", filepath.Join(folder, "again"))
	link(t, "../outside.csv", filepath.Join(folder, "away"))
	link(t, outside, filepath.Join(folder, "far"))
	link(t, filepath.Join(folder, "inside.csv"), filepath.Join(folder, "absolute"))
	link(t, "..", filepath.Join(folder, "parent"))
	link(t, "away", filepath.Join(folder, "twice"))
	link(t, "nowhere", filepath.Join(folder, "dangling"))
	if err := unix.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	feed := message.FeedFile{Bytes: 10, Digest: sha256.Sum256([]byte("a\noutside\n"))}
	for _, name := range []string{"away", "far", "absolute", "parent/outside.csv", "twice", "../outside.csv", "sub/../../outside.csv", outside} {
		_, _, err := Open(folder, name)
		if !errors.Is(err, ErrOutside) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), "copy the file into the folder") {
			t.Errorf("%s: %v", name, err)
		}
		feed.Name = name
		if _, err := NewCache(folder).Open(&feed); err == nil || strings.Contains(err.Error(), "bytes here") {
			t.Errorf("the cache reads %s, or tells its size: %v", name, err)
		}
	}
	for _, name := range []string{"inside.csv", "near", "sub/up", "again/up"} {
		f, info, err := Open(folder, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != "a\ninside!\n" || info.Size() != int64(len(got)) {
			t.Errorf("%s has %q: %v", name, got, err)
		}
		f.Close()
	}
	for name, want := range map[string]string{
		"dangling": "open " + folder + "/dangling: no such file or directory", "sub": folder + "/sub is no file", "pipe": folder + "/pipe is no file",
	} {
		if _, _, err := Open(folder, name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, _, err := Open(filepath.Join(folder, "gone"), "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestSwapped: what is read is the file that was checked, also if its name leads elsewhere since.
func TestSwapped(t *testing.T) {
	folder, outside := place(t)
	name := filepath.Join(folder, "link")
	link(t, "inside.csv", name)
	f, size, err := open(folder, "link")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	link(t, outside, name)
	s, err := readFrom(f, size, message.FeedFile{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.name.Digest != sha256.Sum256([]byte("a\ninside!\n")) {
		t.Error("it read the file that the link names now")
	}
}

// TestSwapping: a link that changes all the time leads to no file outside.
func TestSwapping(t *testing.T) {
	folder, outside := place(t)
	end, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-end:
				ended <- nil
				return
			default:
			}
			next := filepath.Join(folder, "next")
			if err := os.Symlink([]string{outside, "inside.csv"}[i%2], next); err != nil {
				ended <- err
				return
			}
			if err := os.Rename(next, filepath.Join(folder, "link")); err != nil {
				ended <- err
				return
			}
		}
	}()
	for range 500 {
		f, _, err := Open(folder, "link")
		if err != nil {
			continue
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != "a\ninside!\n" {
			t.Errorf("it read %q: %v", got, err)
		}
		f.Close()
	}
	close(end)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
