package tokens

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/node"
)

func fresh(t *testing.T, name string, right node.Right, until time.Time) (string, Token) {
	t.Helper()
	text, token, err := New(name, right, until)
	require.NoError(t, err)
	return text, token
}

// TestFileHasNoToken: the text is found by its digest, and stands nowhere.
func TestFileHasNoToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.tokens")
	text, token := fresh(t, "ci", node.RightSubmit, time.Time{})
	require.NoError(t, Add(path, token))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(b), text)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	f, err := Open(path, time.Now, nil)
	require.NoError(t, err)
	got, ok := f.Find(text)
	require.True(t, ok)
	require.Equal(t, token, got)
	_, ok = f.Find(text + "x")
	require.False(t, ok)
	require.ErrorContains(t, Add(path, token), "the name ci stands twice")
}

// TestFileIsReadAgain: a new line counts within a second, one that is taken out no more; a fault changes nothing, and is
// reported once.
func TestFileIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.tokens")
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	first, one := fresh(t, "one", node.RightView, time.Time{})
	second, two := fresh(t, "two", node.RightOperate, now.Add(time.Hour))
	require.NoError(t, Add(path, one))
	var faults []error
	f, err := Open(path, func() time.Time { return now }, func(err error) { faults = append(faults, err) })
	require.NoError(t, err)
	knows := func(text string) bool {
		_, ok := f.Find(text)
		return ok
	}
	require.NoError(t, Add(path, two))
	require.False(t, knows(second), "the file is looked at once a second")
	now = now.Add(lookEvery)
	require.True(t, knows(second) && knows(first))

	require.NoError(t, os.WriteFile(path, []byte(two.Line()+"\nmore\n"), 0o600))
	for range 3 {
		now = now.Add(lookEvery)
		require.True(t, knows(first), "a file with a fault changes nothing")
	}
	require.Len(t, faults, 1)
	require.ErrorContains(t, faults[0], "line 2: it has 1 words")

	require.NoError(t, os.WriteFile(path, []byte(two.Line()), 0o600))
	now = now.Add(lookEvery)
	require.True(t, !knows(first) && knows(second))
	require.NoError(t, os.Remove(path))
	now = now.Add(lookEvery)
	require.True(t, knows(second), "a file that is away has not changed")
	now = now.Add(time.Hour)
	require.False(t, knows(second), "the token has ended")
}

// TestAddsWaitForEachOther: tokens that are made at the same time are all in the file.
func TestAddsWaitForEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.tokens")
	const many = 16
	done := make(chan error)
	for i := range many {
		_, token := fresh(t, fmt.Sprint("t", i), node.RightView, time.Time{})
		go func() { done <- Add(path, token) }()
	}
	for range many {
		require.NoError(t, <-done)
	}
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	all, err := Parse(b)
	require.NoError(t, err)
	require.Len(t, all, many)
}

// TestOwnersStay: root adds a token to the file of the gate's user, who can still read it.
func TestOwnersStay(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	path := filepath.Join(t.TempDir(), "api.tokens")
	_, one := fresh(t, "one", node.RightView, time.Time{})
	_, two := fresh(t, "two", node.RightView, time.Time{})
	require.NoError(t, Add(path, one))
	require.NoError(t, os.Chown(path, 12345, 23456))
	require.NoError(t, Add(path, two))
	info, err := os.Stat(path)
	require.NoError(t, err)
	of := info.Sys().(*syscall.Stat_t)
	require.Equal(t, []uint32{12345, 23456}, []uint32{of.Uid, of.Gid})
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestFaultsBeforeTheFirstByte: a file that cannot be opened is reported once, too.
func TestFaultsBeforeTheFirstByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.tokens")
	now := time.Now()
	text, one := fresh(t, "one", node.RightView, time.Time{})
	require.NoError(t, Add(path, one))
	var faults []error
	f, err := Open(path, func() time.Time { return now }, func(err error) { faults = append(faults, err) })
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	l, err := net.Listen("unix", path+".socket") // open fails with ENXIO, for root as well
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	require.NoError(t, os.Rename(path+".socket", path))
	for range 3 {
		now = now.Add(lookEvery)
		_, ok := f.Find(text)
		require.True(t, ok)
	}
	require.Len(t, faults, 1)
}

func TestFilesThatAreRefused(t *testing.T) {
	_, token := fresh(t, "a", node.RightView, time.Time{})
	for name, c := range map[string]struct{ text, want string }{
		"role":   {strings.Replace(token.Line(), "viewer", "root", 1), `role "root" is none: write viewer, submitter or operator`},
		"digest": {"a viewer sha256:00 never", "the digest is not sha256: and 64 hexadecimal digits"},
		"end":    {strings.Replace(token.Line(), "never", "soon", 1), `the end "soon" is no time`},
		"name":   {"a/b" + token.Line()[1:], `name "a/b" must be 1 to 128 letters`},
		"long":   {strings.Repeat("#\n", textMax), "more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
	path := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Chmod(path, 0o666))
	_, err := Open(path, time.Now, nil)
	require.ErrorContains(t, err, "others must not write it: chmod 0600")
	_, _, err = New("a b", node.RightView, time.Time{})
	require.ErrorContains(t, err, "choose another --name")
}

// FuzzParse: no bytes crash the gate, and what is read is written the same way.
func FuzzParse(f *testing.F) {
	_, token, _ := New("ci", node.RightSubmit, time.Time{})
	f.Add([]byte(token.Line()))
	f.Add([]byte("# none\n\nci viewer sha256: never"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := Parse(b)
		if err != nil {
			return
		}
		var lines []string
		for i := range all {
			lines = append(lines, all[i].Line())
		}
		again, err := Parse([]byte(strings.Join(lines, "\n")))
		require.NoError(t, err)
		require.Equal(t, len(all), len(again))
		for i := range all {
			require.Equal(t, all[i].Line(), again[i].Line())
		}
	})
}
