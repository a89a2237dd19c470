package store

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/node"
)

// The environment of a child: the place of its store, and its task.
const (
	childDir  = "STORE_TEST_DIR"
	childTask = "STORE_TEST_TASK"
)

// child is the test binary run again, as the process that is killed or whose
// disk is full.
func child(dir string) {
	s, err := Open(dir, "a")
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	if os.Getenv(childTask) == "full" {
		fill(s)
		return
	}
	count(s)
}

// count puts pairs of records without end, and prints which have completed.
func count(s *Bolt) {
	told := serve(s)
	first := uint64(1)
	for _, r := range s.Load("left") {
		first = binary.BigEndian.Uint64(r.Value) + 1
	}
	const flight = 8
	for i := first; ; i++ {
		v := binary.BigEndian.AppendUint64(nil, i)
		s.Put([]node.Record{
			{Key: fmt.Sprintf("n/%020d", i), Value: v}, {Key: "left", Value: v},
			{Key: "pad", Value: make([]byte, 3000)}, {Key: "right", Value: v},
		}, node.WriteID(i))
		if i >= first+flight {
			c := <-told
			fmt.Println("done", c.writeID, c.err)
		}
	}
}

func start(t *testing.T, dir, task string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childTask+"="+task)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// TestKillLosesNothingThatCompleted kills a process in the middle of its Puts,
// again and again in one directory.
func TestKillLosesNothingThatCompleted(t *testing.T) {
	dir := t.TempDir()
	last := uint64(0)
	for round := range 8 {
		cmd, out := start(t, dir, "count")
		kill := time.AfterFunc(time.Duration(60+17*round)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		for out.Scan() {
			text, ok := strings.CutSuffix(strings.TrimPrefix(out.Text(), "done "), " <nil>")
			n, err := strconv.ParseUint(text, 10, 64)
			if !ok || err != nil {
				if strings.Contains(out.Text(), "error") {
					t.Fatal(out.Text())
				}
				continue // the kill cut the line
			}
			last = max(last, n)
		}
		_ = cmd.Wait() // it was killed
		kill.Stop()
		verify(t, dir, round, last)
	}
	if last == 0 {
		t.Fatal("nothing completed before the kills: the test showed nothing")
	}
	t.Logf("%d Puts completed", last)
}

func verify(t *testing.T, dir string, round int, last uint64) {
	t.Helper()
	s, err := Open(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got, want := s.Incarnation(), uint64(2*round+2); got > want {
		t.Errorf("incarnation %d, want at most %d", got, want)
	}
	records := s.Load("n/")
	if uint64(len(records)) < last {
		t.Fatalf("round %d: %d records are left of %d that completed", round, len(records), last)
	}
	for i, r := range records {
		if r.Key != fmt.Sprintf("n/%020d", i+1) {
			t.Fatalf("round %d: record %d is %s: one before it is lost", round, i+1, r.Key)
		}
	}
	left, right := s.Load("left"), s.Load("right")
	if len(left) != len(right) || len(left) == 1 && string(left[0].Value) != string(right[0].Value) {
		t.Fatalf("round %d: half of a Put is there", round)
	}
}

// fill writes until a limit on the file's size refuses it, as a full disk does,
// and writes again after the limit is lifted.
func fill(s *Bolt) {
	signal.Ignore(syscall.SIGXFSZ)
	told := serve(s)
	put := func(key string, size int) error {
		s.Put([]node.Record{{Key: key, Value: make([]byte, size)}}, 1)
		return (<-told).err
	}
	limit := func(bytes uint64) {
		var l unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &l); err != nil {
			fmt.Println("error", err)
		}
		l.Cur = bytes
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &l); err != nil {
			fmt.Println("error", err)
		}
	}
	fmt.Println("before", put("before", 1000))
	limit(4 << 20)
	kept := 0
	for put(fmt.Sprint("big", kept), 1<<20) == nil && kept < 100 {
		kept++
	}
	err := put("full", 1<<20)
	fmt.Println("full", err != nil && kept < 10)
	fmt.Println("small", put("small", 10))
	fmt.Println("loads", len(s.Load("")) >= kept+1)
	limit(unix.RLIM_INFINITY)
	fmt.Println("after", put("after", 1<<20))
	if err := s.Close(); err != nil {
		fmt.Println("error", err)
	}
}

// TestAFullDiskIsAnErrorAndPasses: Puts fail but the store continues, and later Puts succeed
// when there is room again.
func TestAFullDiskIsAnErrorAndPasses(t *testing.T) {
	dir := t.TempDir()
	cmd, out := start(t, dir, "full")
	var got []string
	for out.Scan() {
		got = append(got, out.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{"before <nil>", "full true", "loads true", "after <nil>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the child did not say %q:\n%s", want, text)
		}
	}
	s := open(t, dir)
	for _, key := range []string{"before", "after"} {
		if len(s.Load(key)) != 1 {
			t.Errorf("%s is lost", key)
		}
	}
	if len(s.Load("full")) != 0 {
		t.Error("a Put that was refused is there")
	}
}
