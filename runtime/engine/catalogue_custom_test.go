package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/process"
	"hyperscale/runtime/protocol/hostile/custom"
)

// Whatever a custom program does, the sums agree, its calls have the right kind, and the run says what went
// wrong: on a step whose answer nothing reads, on one that keeps it, and in a function.
func TestHostilePrograms(t *testing.T) {
	t.Parallel()
	all := custom.Catalogue()
	if len(all) < 24 {
		t.Errorf("%d behaviours, want 24 at least", len(all))
	}
	for _, e := range all {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "run"), []byte(e.Script()), 0o755); err != nil {
				t.Fatal(err)
			}
			for path, steps := range map[string]string{
				"counted":  `[step("a", custom.call(old, "a", {"text": "b"}, timeout = "TIMEOUT"))]`,
				"kept":     `[step("a", custom.call(old, "a", timeout = "TIMEOUT"), extract = {"x": regex("(.*)")}, expect = [size_below("16MB")])]`,
				"function": `[step("a", f)]`,
			} {
				_ = os.Remove(filepath.Join(dir, "calls"))
				within := "30s"
				if e.Kind == "timeout" {
					within = "100ms"
				}
				text := strings.ReplaceAll("old = custom.client([\"run\"])\ndef f(vu):\n    return vu.custom.call(old, \"a\", timeout = \"TIMEOUT\")\nworkflow(name = \"test\", vus = 2, iterations = 4, duration = \"60s\", steps = "+steps+")", "TIMEOUT", within)
				f := &process.Folder{Path: dir}
				playHostile(t, path, f, text, &e)
				f.Stop()
			}
		})
	}
}

// playHostile runs a workflow with a hostile program.
func playHostile(t *testing.T, path string, f *process.Folder, text string, e *custom.Entry) {
	t.Helper()
	config := Config{Process: Process{Programs: f}, Workflow: loadFile(t, "", text), VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second}
	if e.Before != "" {
		if _, err := Run(context.Background(), config); err == nil || !strings.Contains(err.Error(), e.Before) {
			t.Errorf("%s: %v, want %q", path, err, e.Before)
		}
		return
	}
	r := run(t, context.Background(), config)
	got := r.Stats.Steps[len(r.Stats.Steps)-1]
	if (r.State == message.WorkflowCompleted) != (e.Fault == "") || !strings.Contains(r.Error, e.Fault) {
		t.Errorf("%s: %v %q, want %q", path, r.State, r.Error, e.Fault)
	}
	for kind, n := range kinds(got) {
		if n > 0 && kind != e.Kind && !(e.Kind == "" && e.Fault != "" && kind == "process") {
			t.Errorf("%s: %d of kind %q, want %q", path, n, kind, e.Kind)
		}
	}
	switch {
	case e.Kind != "" && kinds(got)[e.Kind] == 0:
		t.Errorf("%s: no call has the kind %q: %v", path, e.Kind, got.Errors)
	case e.Kind == "" && e.Fault == "" && got.OK != 4:
		t.Errorf("%s: %d of 4 calls are good: %v", path, got.OK, got.Errors)
	}
	if has := slices.ContainsFunc(r.Stats.Logs, func(line string) bool { return strings.Contains(line, e.Log) }); e.Log == "" && len(r.Stats.Logs) > 0 || e.Log != "" && !has {
		t.Errorf("%s: logs %q, want %q", path, r.Stats.Logs, e.Log)
	}
	if late := measured(got)[plan.MeasureLateAnswers].Count; (late > 0) != e.Late {
		t.Errorf("%s: %d late answers", path, late)
	}
}

// A program that never says hello does not outlast the run's context.
func TestProgramThatSaysNothing(t *testing.T) {
	t.Parallel()
	f := programOf(t, "sleep 100")
	ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer stop()
	w := loadFile(t, "", "workflow(name = \"test\", vus = 1, iterations = 1, steps = [step(\"a\", custom.call(custom.client([\"run\"]), \"a\"))])")
	if _, err := Run(ctx, Config{Process: Process{Programs: f}, Workflow: w, VUs: 1, Duration: time.Minute, Timeout: time.Second}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
