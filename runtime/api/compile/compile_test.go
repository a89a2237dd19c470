package compile

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// TestMain is a child, too: one that compiles, or one that a hostile program has taken.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || len(os.Args[1]) > 0 && os.Args[1][0] == '-' {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case Command:
		if Main(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
	case "memory":
		_ = bound()
		var kept [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			kept = append(kept, b)
			_ = kept
		}
	case "processor":
		_ = bound()
		for {
			_ = time.Now()
		}
	case "nice": // says how many of its threads have another priority
		others, threads := 0, 0
		var here sync.WaitGroup
		for range 8 { // threads that the first ones have started
			here.Add(1)
			go func() {
				runtime.LockOSThread()
				here.Done()
				select {}
			}()
		}
		here.Wait()
		all, _ := os.ReadDir("/proc/self/task")
		for _, one := range all {
			id, _ := strconv.Atoi(one.Name())
			threads++
			if raw, err := unix.Getpriority(unix.PRIO_PROCESS, id); err == nil && kernelNice-raw < niceMost {
				others++
			}
		}
		b, _ := (&Compiled{Secrets: []string{fmt.Sprintf("%d of many: %v", others, threads > 8)}}).encode()
		_, _ = os.Stdout.Write(b)
	case "lies":
		_, _ = os.Stdout.Write([]byte{0xc2, 0xdd, 0xff, 0xff, 0xff, 0xff})
	}
	os.Exit(0)
}

func child(t *testing.T, what string) *Compiler {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return New([]string{self, what})
}

// raced says that the race detector is on, whose own memory exceeds what a child may have.
var raced bool

// loads skips a test whose child loads a program.
func loads(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("the race detector takes more memory than a child may have")
	}
}

// compiles has a program compiled. A machine that is busy may give a child no time within clockMax: then another one tries.
func compiles(t *testing.T, c *Compiler, caller string, p *message.Program) *Compiled {
	t.Helper()
	for try := 1; ; try++ {
		got, err := c.Program(context.Background(), caller, p)
		require.NoError(t, err)
		if try == 10 || len(got.Mistakes) != 1 || !strings.Contains(got.Mistakes[0].Message, "is not loaded after") {
			return got
		}
	}
}

func TestPlanAndMistakes(t *testing.T) {
	loads(t)
	c := child(t, Command)
	got := compiles(t, c, "a", &message.Program{Main: "a", Files: []message.File{{Name: "a", Data: []byte(`workflow(name = "w", vus = 2, duration = "1s", steps = [step("s", http.get("http://h/" + secret("k")))])`)}}})
	require.NotNil(t, got.Plan, "%v", got.Mistakes)
	require.Equal(t, uint64(2), got.Plan.Workflows[0].VUs)
	require.Equal(t, []string{"k"}, got.Secrets)
	got = compiles(t, c, "a", &message.Program{Main: "a", Files: []message.File{{Name: "a", Data: []byte("x = 1\nworkflw()\n")}}})
	require.Nil(t, got.Plan)
	require.Equal(t, "a", got.Mistakes[0].File)
	require.Equal(t, 2, got.Mistakes[0].Line)
}

// TestChildrenAreBounded: one that takes memory or the processor ends, and costs this process nothing.
func TestChildrenAreBounded(t *testing.T) {
	for what, want := range map[string]string{"memory": "takes more than 256 MiB to load|ends the process that loads it|is not loaded after 10s", "processor": "ends the process that loads it|is not loaded after 10s"} { // memory may also lack for a thread; a machine that is busy gives no 2 s within 10
		got, err := child(t, what).Program(context.Background(), "a", &message.Program{Main: "a"})
		require.NoError(t, err)
		require.Nil(t, got.Plan)
		require.Regexp(t, want, got.Mistakes[0].Message)
	}
	c, err := child(t, "lies"), error(nil)
	for try := 1; try <= 10 && err == nil; try++ { // a busy machine may give it no time to lie
		_, err = c.Program(context.Background(), "a", &message.Program{Main: "a"})
	}
	require.ErrorContains(t, err, "read what the compiler's child says")
}

// TestTurns: no more children run than there is room for.
func TestTurns(t *testing.T) {
	c := child(t, Command)
	for range childrenMax {
		c.room <- struct{}{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Program(ctx, "a", &message.Program{Main: "a"})
	require.ErrorIs(t, err, context.Canceled)
}

// TestChildrenThatCannotStart: no program is to blame for a binary that is away, nor for a caller that hangs up.
func TestChildrenThatCannotStart(t *testing.T) {
	got, err := New([]string{"/nothing/here (deleted)", Command}).Program(context.Background(), "a", &message.Program{Main: "a"})
	require.ErrorIs(t, err, ErrStart)
	require.Nil(t, got)
	err = nil
	for try := 1; try <= 10 && err == nil; try++ { // a child whose memory lacks for a thread ends before its caller hangs up
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		_, err = child(t, "processor").Program(ctx, "a", &message.Program{Main: "a"})
	}
	require.ErrorIs(t, err, context.Canceled)
}

// TestChildrenAreNice: all of a child's threads have a lower priority, so the gate's own work goes first.
func TestChildrenAreNice(t *testing.T) {
	got := compiles(t, child(t, "nice"), "a", &message.Program{Main: "a"})
	require.Equal(t, []string{"0 of many: true"}, got.Secrets, "%v", got.Mistakes)
}

// TestOneChildOfACaller: a caller's second program waits for its first, and another caller's does not.
func TestOneChildOfACaller(t *testing.T) {
	loads(t)
	c := child(t, Command)
	busy := c.join("a")
	busy.room <- struct{}{}
	program := &message.Program{Main: "a", Files: []message.File{{Name: "a", Data: []byte(`workflow(name = "w", vus = 2, duration = "1s", steps = [step("s", http.get("http://h/"))])`)}}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Program(ctx, "a", program)
	require.ErrorIs(t, err, context.Canceled)
	_, err = c.Program(context.Background(), "a", program)
	require.ErrorIs(t, err, ErrBusy)
	require.NotNil(t, compiles(t, c, "b", program).Plan)
	<-busy.room
	c.leave("a")
	require.Empty(t, c.lanes)
}

func TestAnswersTravel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Compiled{Secrets: rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "secrets")}
		if rapid.Bool().Draw(t, "plan") {
			in.Plan = &message.Plan{Source: rapid.String().Draw(t, "source")}
		}
		for range rapid.IntRange(0, 5).Draw(t, "mistakes") {
			in.Mistakes = append(in.Mistakes, Mistake{rapid.String().Draw(t, "file"), rapid.Int().Draw(t, "line"), rapid.Int().Draw(t, "column"), rapid.String().Draw(t, "text"), rapid.Bool().Draw(t, "warning")})
		}
		b, err := in.encode()
		require.NoError(t, err)
		out, err := decode(b)
		require.NoError(t, err)
		require.Equal(t, len(in.Secrets), len(out.Secrets))
		require.Equal(t, in.Mistakes, out.Mistakes)
		require.Equal(t, in.Plan == nil, out.Plan == nil)
	})
}

// FuzzDecode: no answer of a child crashes the gate.
func FuzzDecode(f *testing.F) {
	b, _ := (&Compiled{Plan: &message.Plan{Source: "a"}, Secrets: []string{"k"}, Mistakes: []Mistake{{"a", 1, 2, "b", true}}}).encode()
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = decode(b) })
}
