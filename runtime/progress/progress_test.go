package progress

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestLine: of ten calls a second a terminal gets five, a log one in 5 s, and what moved is
// taken away once.
func TestLine(t *testing.T) {
	for _, test := range []struct {
		terminal bool
		want     string
	}{
		{false, strings.Repeat("x\n", 2)},
		{true, strings.Repeat("\r\x1b[Kx", 50) + "\r\x1b[K"},
	} {
		var b bytes.Buffer
		at := time.Unix(1, 0)
		l := New(&b, test.terminal, at)
		asked := 0
		for range 100 {
			at = at.Add(100 * time.Millisecond)
			l.Tell(at, func() string { asked++; return "x" })
		}
		l.Clear()
		l.Clear()
		if b.String() != test.want || asked != strings.Count(test.want, "x") {
			t.Errorf("terminal %v: %q, asked %d times", test.terminal, b.String(), asked)
		}
	}
}

func TestLeft(t *testing.T) {
	if left, ok := Left(10*time.Second, 5, 20); left != 30*time.Second || !ok {
		t.Errorf("%v, %v: want 30s", left, ok)
	}
	if left, ok := Left(time.Second, 20, 5); left != 0 || !ok {
		t.Errorf("%v, %v: want 0s, as more is done than was to do", left, ok)
	}
	if _, ok := Left(time.Second, 0, 5); ok {
		t.Error("an end is promised before anything is done")
	}
}

func TestTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []*os.File{null, ours, theirs} {
		defer func() { _ = file.Close() }()
	}
	if Terminal(null) || Terminal(new(bytes.Buffer)) || !Terminal(theirs) {
		t.Errorf("/dev/null %v, a buffer %v, a terminal %v: want false, false, true", Terminal(null), Terminal(new(bytes.Buffer)), Terminal(theirs))
	}
	t.Setenv("TERM", "dumb")
	if Terminal(theirs) {
		t.Error("on a dumb terminal no line moves")
	}
}
