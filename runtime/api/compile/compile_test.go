package compile

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
			time.Now()
		}
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

func TestPlanAndMistakes(t *testing.T) {
	c := child(t, Command)
	got, err := c.Program(context.Background(), &message.Program{Main: "a", Files: []message.File{{Name: "a", Data: []byte(`workflow(name = "w", vus = 2, duration = "1s", steps = [step("s", http.get("http://h/" + secret("k")))])`)}}})
	require.NoError(t, err)
	require.NotNil(t, got.Plan, "%v", got.Mistakes)
	require.Equal(t, uint64(2), got.Plan.Workflows[0].VUs)
	require.Equal(t, []string{"k"}, got.Secrets)
	got, err = c.Program(context.Background(), &message.Program{Main: "a", Files: []message.File{{Name: "a", Data: []byte("x = 1\nworkflw()\n")}}})
	require.NoError(t, err)
	require.Nil(t, got.Plan)
	require.Equal(t, "a", got.Mistakes[0].File)
	require.Equal(t, 2, got.Mistakes[0].Line)
}

// TestChildrenAreBounded: one that takes memory or the processor ends, and costs this process nothing.
func TestChildrenAreBounded(t *testing.T) {
	for what, want := range map[string]string{"memory": "takes more than 256 MiB to load", "processor": "ends the process that loads it|is not loaded after 10s"} { // a machine that is busy gives it no 2 s within 10
		got, err := child(t, what).Program(context.Background(), &message.Program{Main: "a"})
		require.NoError(t, err)
		require.Nil(t, got.Plan)
		require.Regexp(t, want, got.Mistakes[0].Message)
	}
	_, err := child(t, "lies").Program(context.Background(), &message.Program{Main: "a"})
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
	_, err := c.Program(ctx, &message.Program{Main: "a"})
	require.ErrorIs(t, err, context.Canceled)
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
