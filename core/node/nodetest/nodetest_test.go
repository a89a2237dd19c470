package nodetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
)

// tried performs one action of each kind.
type tried struct{ stream node.StreamID }

func (m *tried) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		for _, r := range env.Store().Load("toy/") {
			env.Emit(event.Ignored{Peer: "disk", Message: r.Key, Why: string(r.Value)})
		}
		m.stream = env.Open("b:1")
		env.SetTimer(node.Key(node.PartPing, 1), time.Second)
	case node.InputStreamOpened:
		env.Send(in.Stream, &toy.Ping{Counter: 1})
	case node.InputStreamBroken:
		env.Send(in.Stream, &toy.Ping{Counter: 2})
	case node.InputMessage:
		env.Store().Put([]node.Record{{Key: "toy/" + message.JobID{1}.String(), Value: []byte("here")}}, 1)
	case node.InputStored:
		env.Emit(event.StoreFailed{What: "put", Err: errorText(in.Err)})
	case node.InputTimer:
		env.Exec().Start(node.ExecID(env.Now()), 0, &message.ExecStart{Workflow: "w", Program: message.Program{Main: "m"}, PlanDigest: 1, VUs: 1, Shard: message.ShardID{Job: message.JobID{1}}})
	case node.InputExec:
		env.Datagram("b:1", &toy.Ack{Counter: uint64(in.Exec.ID)})
	case node.InputCommand:
		env.Answer(in.Command, in.Message)
		env.Close(m.stream)
	case node.InputStop:
		env.Halt("")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestStories(t *testing.T) {
	Stories(t, func(t *testing.T, path string) {
		w := New(Config{Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleToy}, New: func() node.Machine { return &tried{} }})
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
	})
}

func TestTextReadsWhatItWrites(t *testing.T) {
	var text Text
	for _, fields := range []string{
		"Shard=j1/2/3 Fence=1.2.3 Sequence=7 Stats.Active=3 Stats.Elapsed=1.5s Stats.Steps.0.Name=a Stats.Steps.0.Kind=1 Stats.Steps.1.Name=b",
		"Shard=" + message.JobID{1, 2}.String() + "/0/0",
	} {
		m, err := text.Parse("ShardProgress", strings.Fields(fields))
		if err != nil {
			t.Fatal(err)
		}
		want := text.Message(m)
		again, err := text.Parse("ShardProgress", strings.Fields(want)[1:])
		if err != nil {
			t.Fatal(err)
		}
		if got := text.Message(again); got != want || again.Digest() != m.Digest() {
			t.Errorf("%q: got %q, want %q", fields, got, want)
		}
	}
	if _, err := text.Parse("ShardProgress", []string{"Nonsense=1"}); err == nil {
		t.Error("a field that does not exist was accepted")
	}
}

func TestRulesOfEnvAreHeld(t *testing.T) {
	tests := []struct {
		name string
		step func(env node.Env)
		want string
	}{
		{"load outside start", func(env node.Env) { env.Store().Load("") }, "outside InputStart"},
		{"a run twice", func(env node.Env) {
			m := &message.ExecStart{Workflow: "w", Program: message.Program{Main: "m"}, PlanDigest: 1, VUs: 1, Shard: message.ShardID{Job: message.JobID{1}}}
			env.Exec().Start(1, 0, m)
			env.Exec().Start(1, 1, m)
		}, "started twice"},
		{"a changed message", func(env node.Env) {
			m := &toy.Ping{Counter: 1}
			env.Datagram("x", m)
			m.Counter = 2
		}, "was changed"},
		{"a required field left out", func(env node.Env) { env.Datagram("x", &message.ExecResult{}) }, "cannot cross a wire"},
		{"an empty key", func(env node.Env) { env.Store().Put([]node.Record{{}}, 1) }, "outside the bounds"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := New(Config{Self: node.Peer{ID: "a", Incarnation: 1, Role: node.RoleToy}, New: func() node.Machine { return &tried{} }})
			w.Start()
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}()
			test.step(w)
			w.Take()
		})
	}
}

// The input that a failed property leaves in testdata/rapid is no story, nor is any other file
// without .txt.
func TestStoriesAreTextFilesOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"testdata/b.txt", "testdata/a.txt", "testdata/rapid/TestX/TestX-1.fail", "testdata/c.sched"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("# no story"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	Stories(t, func(_ *testing.T, path string) { got = append(got, path) })
	if want := "testdata/a.txt testdata/b.txt"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
