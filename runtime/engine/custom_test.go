package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/process"
)

// programOf writes a custom program of sh, and returns the folder that may start it.
func programOf(t *testing.T, script string) *process.Folder {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	f := &process.Folder{Path: dir}
	t.Cleanup(f.Stop)
	return f
}

// booking answers book, refuses no, lets slow wait until it is cancelled, and leaves its count in a file.
const booking = `read -r hello
echo '{"hyperscale":1,"name":"booking","measures":["seats"]}'
count=0
while read -r line; do
	id=${line#*\"id\":}; id=${id%%,*}
	case $line in
	*'"call":"book"'*) count=$((count+1)); echo '{"id":'$id',"ok":true,"status":201,"body":"booked","measures":{"seats":2}}';;
	*'"call":"no"'*) count=$((count+1)); echo '{"id":'$id',"ok":false,"code":"E42","error":"no seat"}';;
	*'"call":"slow"'*) count=$((count+1));;
	*'"cancel":'*) id=${line#*:}; echo '{"id":'${id%\}}',"ok":true}';;
	*'"end"'*) echo $count >count.$$; echo '{"calls":'$count'}'; exit;;
	esac
done
`

// callsOf is how many calls the processes say in their files.
func callsOf(t *testing.T, f *process.Folder) (n uint64) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(f.Path, "count.*"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no process has counted", err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		one, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n += one
	}
	return n
}

// What a run counts is what its custom programs counted, by their last lines and by files of their own.
func TestCallsAgreeWithTheProgram(t *testing.T) {
	t.Parallel()
	for _, vus := range []uint64{1, 64, 500} {
		for name, tt := range map[string]struct {
			client, call, kind string
			late               bool
		}{
			"book":    {`processes = 2, in_flight = 8`, `"book", {"id": "17"}`, "", false},
			"refused": {``, `"no"`, "server E42", false},
			"timeout": {`in_flight = 500`, `"slow", timeout = "50ms"`, "timeout", true},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, vus), func(t *testing.T) {
				t.Parallel()
				f := programOf(t, booking)
				n := 2 * vus
				w := loadFile(t, "", fmt.Sprintf("old = custom.client([\"run\"], %s)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"book\", custom.call(old, %s))])", tt.client, n, vus, tt.call))
				r := run(t, context.Background(), Config{Process: Process{Programs: f}, Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
				got := r.Stats.Steps[0]
				wrong := map[bool]uint64{true: n}[tt.kind != ""]
				if r.State != message.WorkflowCompleted || got.Started != n || got.Sent != n || got.OK != n-wrong || kinds(got)[tt.kind] != wrong || len(r.Stats.Logs) > 0 {
					t.Fatalf("%v %q: ok %d of %d, sent %d: %v %q", r.State, r.Error, got.OK, got.Started, got.Sent, got.Errors, r.Stats.Logs)
				}
				if tt.late != (got.TimedOut == n) || got.Failed+got.TimedOut != wrong {
					t.Errorf("failed %d, timed out %d of %d", got.Failed, got.TimedOut, n)
				}
				if here := callsOf(t, f); here != n {
					t.Errorf("the program counted %d calls, %d were sent", here, n)
				}
				all := measured(got)
				if seats, want := all["custom_seats"].Count, map[bool]uint64{true: 2 * n}[wrong == 0]; seats != want {
					t.Errorf("%d seats, want %d", seats, want)
				}
				if late, want := all[plan.MeasureLateAnswers].Count, map[bool]uint64{true: n}[tt.late]; late != want {
					t.Errorf("%d late answers, want %d", late, want)
				}
			})
		}
	}
}

// What a program answers after it has closed its stdin counts, also where a later call meets that first.
func TestAnswerBehindClosedStdinCounts(t *testing.T) {
	t.Parallel()
	f := programOf(t, `read -r hello
echo '{"hyperscale":1,"name":"curt"}'
read -r line
id=${line#*\"id\":}; id=${id%%,*}
exec 0<&-
sleep 1
echo '{"id":'$id',"ok":true}'
`)
	w := loadFile(t, "", `curt = custom.client(["run"], in_flight = 4)
workflow(name = "test", rate = "10/s", vus = 3, duration = "300ms", graceful_stop = "20s", steps = [step("ask", custom.call(curt, "ask"))])`)
	r := run(t, context.Background(), Config{Process: Process{Programs: f}, Workflow: w, VUs: 3, Duration: 300 * time.Millisecond, Timeout: 30 * time.Second})
	if got := r.Stats.Steps[0]; got.Started < 2 || got.OK != 1 || got.Failed != got.Started-1 {
		t.Errorf("%v %q: ok %d of %d, failed %d: %v %q", r.State, r.Error, got.OK, got.Started, got.Failed, got.Errors, r.Stats.Logs)
	}
}

// A run that is cancelled in the middle of its calls has sent what its programs counted, and cancels those
// that are open.
func TestCancelledCallsAgreeWithTheProgram(t *testing.T) {
	t.Parallel()
	f := programOf(t, booking)
	w := loadFile(t, "", "old = custom.client([\"run\"], processes = 2, in_flight = 4)\nworkflow(name = \"test\", vus = 64, duration = \"60s\", steps = [step(\"book\", custom.call(old, \"book\")), step(\"slow\", custom.call(old, \"slow\"))])")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r := run(t, ctx, Config{Process: Process{Programs: f}, Workflow: w, VUs: 64, Duration: time.Minute, Timeout: 30 * time.Second, Progress: func(s *message.Stats) {
		if len(s.Steps) == 2 && s.Steps[1].Started == 8 {
			stop() // no place is left
		}
	}})
	book, slow := r.Stats.Steps[0], r.Stats.Steps[1]
	if r.State != message.WorkflowCancelled || slow.Cancelled != 8 || slow.Started != 8 || len(r.Stats.Logs) > 0 {
		t.Errorf("%v: %d of %d are cancelled: %q", r.State, slow.Cancelled, slow.Started, r.Stats.Logs)
	}
	if here := callsOf(t, f); here != book.Sent+slow.Sent {
		t.Errorf("the program counted %d calls, %d and %d were sent", here, book.Sent, slow.Sent)
	}
}

// A run that cuts its calls at its hard end sends none of those that wait.
func TestCutSendsNoCallThatWaits(t *testing.T) {
	t.Parallel()
	f := programOf(t, booking)
	w := loadFile(t, "", "old = custom.client([\"run\"], in_flight = 1)\nworkflow(name = \"test\", vus = 8, duration = \"200ms\", graceful_stop = \"100ms\", steps = [step(\"slow\", custom.call(old, \"slow\"))])")
	r := run(t, context.Background(), Config{Process: Process{Programs: f}, Workflow: w, VUs: 8, Duration: 200 * time.Millisecond, Timeout: 30 * time.Second})
	if slow := r.Stats.Steps[0]; slow.Cancelled != 1 || slow.Sent != 1 || len(r.Stats.Logs) > 0 {
		t.Errorf("%v: %d of %d are cancelled, %d were sent: %q", r.State, slow.Cancelled, slow.Started, slow.Sent, r.Stats.Logs)
	}
	if here := callsOf(t, f); here != 1 {
		t.Errorf("the program counted %d calls", here)
	}
}

// A program that reads no stdin cannot make a run keep the lines of all the calls that it lets time out.
func TestDeafProgramEnds(t *testing.T) {
	t.Parallel()
	f := programOf(t, "echo '{\"hyperscale\":1}'; sleep 100")
	w := loadFile(t, "", "old = custom.client([\"run\"], in_flight = 4)\nworkflow(name = \"test\", iterations = 1000, vus = 4, duration = \"60s\", steps = [step(\"a\", custom.call(old, \"a\", {\"text\": \"7\" * 900000}, timeout = \"20ms\"))])")
	r := run(t, context.Background(), Config{Process: Process{Programs: f}, Workflow: w, VUs: 4, Duration: time.Minute, Timeout: 30 * time.Second})
	if got := r.Stats.Steps[0]; r.State != message.WorkflowFailed || !strings.Contains(r.Error, "run reads no stdin") || got.Started > 100 {
		t.Errorf("%v %q: %d of %d timed out", r.State, r.Error, got.TimedOut, got.Started)
	}
}

// BenchmarkCalls: what 64 calls in flight cost this process, by a program of the Go kit. cpu-us/call has
// no time of the program's own.
func BenchmarkCalls(b *testing.B) {
	dir := b.TempDir()
	kit, err := os.ReadFile("../../cmd/hyperscale/internal/author/kits/go.txt")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kit.go"), kit, 0o644); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "run"), filepath.Join(dir, "kit.go")).CombinedOutput(); err != nil {
		b.Skipf("%v: %s", err, out)
	}
	f := &process.Folder{Path: dir}
	defer f.Stop()
	cpu := func() time.Duration {
		var r unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	b.ReportAllocs()
	vus := min(64, b.N)
	w := loadFile(b, "", fmt.Sprintf("workflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"book\", custom.call(custom.client([\"run\"]), \"book\", {\"id\": \"17\"}))])", b.N, vus))
	before := cpu()
	r := run(b, context.Background(), Config{Process: Process{Programs: f, Alone: true}, Workflow: w, VUs: uint64(vus), Duration: time.Minute, Timeout: 30 * time.Second})
	if r.Stats.Steps[0].OK != uint64(b.N) {
		b.Fatal(r.Error, r.Stats.Steps[0].Errors)
	}
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/1e3, "cpu-us/call")
}
