package local

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/exec"
)

func TestMain(m *testing.M) {
	if os.Getenv("LOCAL_TEST_CHILD") != "" {
		os.Exit(exec.Main(func(ctx context.Context, _ *exec.Work) *message.ExecResult {
			<-ctx.Done()
			return &message.ExecResult{State: message.WorkflowCancelled}
		}))
	}
	goleak.VerifyTestMain(m)
}

// children lists the processes that this one has started and that are not gone.
func children(t *testing.T) []string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range tasks {
		b, _ := os.ReadFile(name) // a thread may end meanwhile
		for _, pid := range bytes.Fields(b) {
			all = append(all, string(pid))
		}
	}
	return all
}

func config(t *testing.T, registered chan<- node.Role) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Cores: 2, Cluster: "c", Environment: "e", Logger: slog.New(slog.DiscardHandler),
		Command: []string{"/usr/bin/env", "LOCAL_TEST_CHILD=1", self},
		Observer: func(e node.Event) {
			if e, ok := e.(event.PeerRegistered); ok {
				registered <- e.Role
			}
		},
	}
}

// TestNothingIsLeft: after Stop and after Kill there is no child, and goleak finds
// no goroutine.
func TestNothingIsLeft(t *testing.T) {
	for name, end := range map[string]func(*Cluster) error{
		"stop": func(c *Cluster) error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			return c.Stop(ctx)
		},
		"kill": func(c *Cluster) error { c.Kill(); return nil },
	} {
		registered := make(chan node.Role, 16)
		c, err := Start(config(t, registered))
		if err != nil {
			t.Fatal(err)
		}
		for seen := map[node.Role]bool{}; !seen[node.RoleWorker] || !seen[node.RoleManager]; {
			select {
			case role := <-registered:
				seen[role] = true
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: only %v have registered", name, seen)
			}
		}
		if got := len(children(t)); got != c.Cores() {
			t.Errorf("%s: %d executors, want %d", name, got, c.Cores())
		}
		if err := end(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left := children(t); len(left) > 0 {
			t.Errorf("%s left processes %v", name, left)
		}
		select {
		case err := <-c.Lost():
			t.Errorf("%s was asked for and told as a loss: %v", name, err)
		default:
		}
	}
}

func TestExecutorsThatCannotStart(t *testing.T) {
	c := config(t, make(chan node.Role, 16))
	c.Command = []string{"/no/such/command"}
	if cluster, err := Start(c); err == nil {
		cluster.Kill()
		t.Fatal("a cluster without executors was started")
	} else if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error does not say why: %v", err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("it left processes %v", left)
	}
}

func TestMissingLogger(t *testing.T) {
	if _, err := Start(Config{}); err == nil {
		t.Error("no logger was accepted")
	}
}
