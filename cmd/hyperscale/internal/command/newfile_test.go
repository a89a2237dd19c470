package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A file appears whole, replaces none, and leaves nothing beside it, also where a file system has no links.
func TestNewFile(t *testing.T) {
	none := func(string, string) error { return &os.LinkError{Op: "link", Err: unix.EPERM} }
	for what, link := range map[string]func(string, string) error{"links": os.Link, "no links": none} {
		name := filepath.Join(t.TempDir(), "job.json")
		text := func(s string) func(io.Writer) error {
			return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
		}
		require.NoError(t, newFile(name, 0o640, text("first"), link), what)
		require.ErrorIs(t, newFile(name, 0o640, text("second"), link), fs.ErrExist, what)
		b, err := os.ReadFile(name)
		require.NoError(t, err, what)
		require.Equal(t, "first", string(b), what)
		at, err := os.Stat(name)
		require.NoError(t, err, what)
		require.Equal(t, fs.FileMode(0o640), at.Mode(), what)
		other, full := filepath.Join(filepath.Dir(name), "other.json"), errors.New("the disk is full")
		require.ErrorIs(t, newFile(other, 0o600, func(w io.Writer) error { _, _ = io.WriteString(w, "ha"); return full }, link), full, what)
		all, err := os.ReadDir(filepath.Dir(name))
		require.NoError(t, err, what)
		require.Len(t, all, 1, what)
	}
	gone := filepath.Join(t.TempDir(), "none", "job.json")
	require.ErrorIs(t, NewFile(gone, 0o600, func(io.Writer) error { return nil }), fs.ErrNotExist)
}

// What a killed run left is removed once no run can be writing it, and no other file is.
func TestRemoveParts(t *testing.T) {
	folder, old := t.TempDir(), time.Now().Add(-2*time.Hour)
	file := func(name string, at time.Time) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(folder, name), at, at))
	}
	const gone, fresh = ".a.json.partial-123", ".a.json.partial-124"
	keep := []string{"a.json", ".b.json.partial-1", ".a.json.partial-", ".a.json.partial-1x", "a.json.partial-1", ".a.json"}
	file(gone, old)
	file(fresh, time.Now())
	for _, name := range keep {
		file(name, old)
	}
	require.NoError(t, os.Mkdir(filepath.Join(folder, ".a.json.partial-9"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(folder, ".a.json.partial-9"), old, old))
	RemoveParts(folder, func(name string) bool { return name == "a.json" })
	_, err := os.Lstat(filepath.Join(folder, gone))
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, name := range append(keep, fresh, ".a.json.partial-9") {
		_, err := os.Lstat(filepath.Join(folder, name))
		require.NoError(t, err, name)
	}
}
