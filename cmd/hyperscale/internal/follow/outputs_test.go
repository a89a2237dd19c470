package follow

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/console"
)

// What a file may ask for is what --out takes.
func TestReportsAreOutputs(t *testing.T) {
	var names []string
	for _, k := range outputKinds() {
		names = append(names, k.name)
	}
	if want := workflow.ReportKinds(); !slices.Equal(names, want) {
		t.Errorf("--out takes %q, report = takes %q", names, want)
	}
}

// A command that leaves a job without its result delivers the rows so far, and says what each place has.
func TestLeavingAJobReportsOnItsOutputs(t *testing.T) {
	var said strings.Builder
	name := filepath.Join(t.TempDir(), "rows.jsonl")
	f := &Follower{out: &Flags{wait: time.Minute}, held: console.NewHeld(&said), kind: ui.None}
	f.out.Outs = []string{"jsonl=" + name}
	if err := f.openSinks(); err != nil {
		t.Fatal(err)
	}
	defer f.rows.Close()
	f.rows.Apply(&message.JobStatus{Job: message.JobOf("a"), Name: "t.star", State: message.JobRunning, Elapsed: time.Second})
	f.Signals = command.CatchInterrupts()
	defer f.Signals.Release()
	lost := make(chan error, 1)
	f.Lost = lost
	lost <- errors.New("the cluster is gone")
	s, err := session.Dial(&session.Flags{Addresses: []string{"127.0.0.1:1"}, Cluster: "c", Environment: "e"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := f.Follow(context.Background(), s, message.JobOf("a"), ui.NewModel("", &message.Plan{})); err == nil {
		t.Fatal("there is no gate")
	}
	if b, _ := os.ReadFile(name); !strings.Contains(string(b), `"kind":"run"`) || !strings.Contains(said.String(), "jsonl: 1 of 1 rows delivered") {
		t.Errorf("%s: the file has %q", said.String(), b)
	}
}
