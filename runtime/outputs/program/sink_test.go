package program

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// What programs answer that lie, and what becomes of the batch.
func TestAnswers(t *testing.T) {
	rows := outputstest.Rows("j")[:3]
	for _, c := range []struct {
		what, script string
		want         outputs.Verdict
		why          string
	}{
		{"all at once", `read a; read b; read c; echo '{"ack":3}'; cat`, outputs.VerdictDelivered, ""},
		{"one by one", `for n in 1 2 3; do read a; echo "{\"ack\":$n}"; done; cat`, outputs.VerdictDelivered, ""},
		{"some rejected", `read a; read b; read c; echo '{"reject":2,"why":"no"}'; echo '{"ack":3}'; cat`, outputs.VerdictRejected, "no"},
		{"rejected in another order", `read a; read b; read c; for n in 3 2 3 2; do echo "{\"reject\":$n,\"why\":\"no\"}"; done; echo '{"ack":3}'; cat`, outputs.VerdictRejected, "no"},
		{"a row that it does not have", `read a; echo '{"ack":4}'; cat`, outputs.VerdictUnclear, "answers for row 4, and has rows 1 to 3"},
		{"a row twice", `read a; echo '{"ack":2}'; echo '{"ack":2}'; cat`, outputs.VerdictUnclear, "answers for row 2, and has rows 3 to 3"},
		{"no JSON", `read a; echo done; cat`, outputs.VerdictUnclear, `answers "done"`},
		{"an endless line", `read a; while :; do printf 0123456789abcdef0123456789abcdef; done`, outputs.VerdictUnclear, "ended before"},
		{"its last words", `read a; echo no room >&2; exit 3`, outputs.VerdictUnclear, "no room"},
		{"silence", `exec sleep 60`, outputs.VerdictUnclear, "acknowledged 0 of 3 rows in time"},
		{"a child that holds its output", `sleep 60 & read a; exit 1`, outputs.VerdictUnclear, "ended before"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := &sink{args: []string{"sh", "-c", c.script}}
			defer s.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			out := s.Deliver(ctx, outputs.Batch{Rows: rows})
			if out.Verdict != c.want || !strings.Contains(out.Why, c.why) {
				t.Errorf("%+v", out)
			}
			want := []int{1}
			if strings.Contains(c.what, "order") {
				want = []int{1, 2}
			}
			if c.want == outputs.VerdictRejected && !slices.Equal(out.Rows, want) {
				t.Errorf("rejected %v", out.Rows)
			}
		})
	}
}

func TestProgramsThatAreNotThere(t *testing.T) {
	s := &sink{args: []string{"./none-of-this-name"}}
	if err := s.Check(context.Background()); err == nil || !strings.Contains(err.Error(), "name a program") {
		t.Error(err)
	}
	if _, err := newSink(nil); err == nil {
		t.Error("a place without a program")
	}
}

// A program that ends before it gets a row takes none.
func TestAProgramThatEndsAtOnce(t *testing.T) {
	s := &sink{args: []string{"sh", "-c", "echo no table >&2; exit 3"}, early: time.Minute}
	defer s.Close()
	if err := s.Check(context.Background()); err == nil || !strings.Contains(err.Error(), "no table") {
		t.Error(err)
	}
}

// The group of a program that has ended ends with it.
func TestChildrenOfAProgramThatHasEnded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pid")
	s := &sink{args: []string{"sh", "-c", `sleep 4321 >/dev/null 2>&1 & echo $! >"$0"`, name}, early: time.Minute}
	defer s.Close()
	if err := s.Check(context.Background()); err == nil {
		t.Fatal("it has ended")
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 { // a signal takes a while
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(line), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d goes on", pid)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"ack":4}`), uint64(3), uint64(5))
	f.Add([]byte(`{"reject":5,"why":"no"}`), uint64(3), uint64(5))
	f.Fuzz(func(t *testing.T, line []byte, acked, last uint64) {
		a, err := read(line, acked, last)
		if n := a.Ack + a.Reject; err == nil && (n <= acked || n > last || (a.Ack > 0) == (a.Reject > 0)) {
			t.Errorf("%s: %+v", line, a)
		}
	})
}
