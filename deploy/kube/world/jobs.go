package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// workflow is what clients submit: one virtual user on each of some cores.
const workflow = `workflow(
    name = "main",
    vus = %[1]d,
    cores = %[1]d,
    duration = param("duration"),
    timeout = "5s",
    think = "50ms",
    steps = [step("home", http.get(param("target")))],
)
`

// Result is the part of a result that tests read.
type Result struct {
	Job     string `json:"job"`
	Outcome string `json:"outcome"`
	Error   string `json:"error"`
	Totals  struct {
		Started uint64 `json:"started"`
		OK      uint64 `json:"ok"`
		Failed  uint64 `json:"failed"`
	} `json:"totals"`
}

// Job is one that a client follows to its end.
type Job struct {
	key    string
	began  time.Time
	took   time.Duration
	out    string // its id, if it has one, and what else was written
	code   int
	Result Result
}

func (j *Job) String() string {
	said := strings.TrimSpace(j.out)
	if j.code == 0 {
		said, _, _ = strings.Cut(said, "\n") // its id
	}
	return fmt.Sprintf("job %s: exit %d after %.1f s, %s %s, %d of %d requests answered: %s",
		j.key, j.code, j.took.Seconds(), j.Result.Outcome, j.Result.Error, j.Result.Totals.OK, j.Result.Totals.Started, said)
}

// Took is the time from its submission until its client had its result.
func (j *Job) Took() time.Duration { return j.took }

// Path is that of the job's requests at the target.
func (j *Job) Path() string { return "/" + j.key }

// gates is how a client finds the gates: by the name of the Service of those that are ready.
const gates = "dns:" + Space + "." + Space + ".svc.cluster.local:7400"

// Submit submits a job on some cores and follows it to its end.
func (w *World) Submit(ctx context.Context, key string, cores int, duration time.Duration) *Job {
	j := &Job{key: key, began: time.Now()}
	file, out := filepath.Join(w.folder, key+".star"), filepath.Join(w.folder, key+".json")
	if err := os.WriteFile(file, fmt.Appendf(nil, workflow, cores), 0o644); err != nil {
		j.out = err.Error()
		return j
	}
	cmd := w.command(ctx, "submit", file, "--gate", gates, "--cluster-secret", w.Secret, "--key", key, "--wait", "--ui", "none",
		"--set", "target="+targetURL+j.Path(), "--set", "duration="+duration.String(), "--out", "json="+out)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	j.took, j.out = time.Since(j.began), said.String()
	if bad := (*exec.ExitError)(nil); errors.As(err, &bad) {
		j.code = bad.ExitCode()
	} else if err != nil {
		j.code = -1
	}
	if text, err := os.ReadFile(out); err == nil {
		err = json.Unmarshal(text, &j.Result)
		if err != nil {
			j.out += err.Error()
		}
	}
	return j
}

// Completed fails the test unless a job has completed, and all its requests were answered.
func (j *Job) Completed(t *testing.T) {
	t.Helper()
	if j.code != 0 || j.Result.Outcome != "COMPLETED" || j.Result.Totals.Failed > 0 || j.Result.Totals.OK == 0 {
		t.Errorf("%v", j)
	}
}

// Whole fails the test unless a job has completed, and its result has each request that the target had: no attempt was lost.
func (j *Job) Whole(t *testing.T, target *Target) {
	t.Helper()
	j.Completed(t)
	if got := target.Count(j.Path()); uint64(got) != j.Result.Totals.Started {
		t.Errorf("the target had %d requests of %v", got, j)
	}
}

// Crowd submits job after job until it is stopped.
type Crowd struct {
	quit context.CancelFunc
	all  sync.WaitGroup
	mu   sync.Mutex
	jobs []*Job
}

// KeepBusy keeps some jobs running, each for a while.
func (w *World) KeepBusy(clients int, duration time.Duration) *Crowd {
	quit, stop := context.WithCancel(context.Background())
	life, end := context.WithCancel(context.Background())
	c := &Crowd{quit: stop}
	w.t.Cleanup(func() { // a test that fails ends its clients before its folder goes
		stop()
		end()
		c.all.Wait()
	})
	for client := range clients {
		c.all.Go(func() {
			for n := 0; quit.Err() == nil; n++ {
				ctx, cancel := context.WithTimeout(life, duration+5*time.Minute)
				j := w.Submit(ctx, fmt.Sprintf("job-%d-%d", client, n), 1, duration)
				cancel()
				w.t.Log(j)
				c.mu.Lock()
				c.jobs = append(c.jobs, j)
				c.mu.Unlock()
			}
		})
	}
	return c
}

// Stop lets each client end its job, and returns all of them.
func (c *Crowd) Stop() []*Job {
	c.quit()
	c.all.Wait()
	return c.jobs
}
