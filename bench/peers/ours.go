package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// latencies is how a result file of ours tells a histogram.
type latencies struct {
	Count uint64 `json:"count"`
	Mean  int64  `json:"mean"`
	P50   int64  `json:"p50"`
	P90   int64  `json:"p90"`
	P95   int64  `json:"p95"`
	P99   int64  `json:"p99"`
	P999  int64  `json:"p999"`
	Max   int64  `json:"max"`
}

func (l latencies) figures() map[string]time.Duration {
	if l.Count == 0 {
		return map[string]time.Duration{}
	}
	return map[string]time.Duration{"mean": time.Duration(l.Mean), "p50": time.Duration(l.P50), "p90": time.Duration(l.P90), "p95": time.Duration(l.P95),
		"p99": time.Duration(l.P99), "p999": time.Duration(l.P999), "max": time.Duration(l.Max)}
}

// readOurs reads the file of --out json=FILE. Latencies are those of the first
// workflow's first step: every experiment but memory has one.
func readOurs(out []byte) (told, error) {
	var r struct {
		Outcome string `json:"outcome"`
		Error   string `json:"error"`
		Totals  struct {
			OK        uint64 `json:"ok"`
			Failed    uint64 `json:"failed"`
			TimedOut  uint64 `json:"timed_out"`
			Cancelled uint64 `json:"cancelled"`
			Dropped   uint64 `json:"dropped"`
		} `json:"totals"`
		Generator struct {
			Lag       latencies `json:"lag_ns"`
			Saturated bool      `json:"saturated"`
		} `json:"generator"`
		Workflows []struct {
			Steps []struct {
				Latency latencies `json:"latency_ns"`
			} `json:"steps"`
			Checks []struct {
				Passed uint64 `json:"passed"`
			} `json:"checks"`
		} `json:"workflows"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return told{}, fmt.Errorf("hyperscale: %w", err)
	}
	if r.Outcome == "" {
		return told{}, errors.New("hyperscale told nothing")
	}
	if r.Outcome != "COMPLETED" || len(r.Workflows) == 0 || len(r.Workflows[0].Steps) == 0 {
		return told{}, fmt.Errorf("the job is %s: %s", r.Outcome, strings.ReplaceAll(r.Error, "\n", "; "))
	}
	t := told{Requests: r.Totals.OK, Failed: r.Totals.Failed + r.Totals.TimedOut + r.Totals.Dropped, Late: r.Generator.Lag.figures()}
	t.Latency = r.Workflows[0].Steps[0].Latency.figures()
	for _, c := range r.Workflows[0].Checks {
		t.Checks += c.Passed
	}
	if r.Totals.Dropped > 0 {
		t.Note = fmt.Sprintf("%d starts dropped", r.Totals.Dropped)
	}
	return t, nil
}

// flow is one workflow of a file of ours.
type flow struct {
	Name     string
	URL      string
	VUs      int
	Duration time.Duration
	Head     string        // what stands before the workflow
	Step     string        // instead of a request of URL
	Function bool          // a function step and one check, instead of a request
	Within   time.Duration // in which its users begin, in a straight line
	More     string        // further arguments of workflow(), each with a comma behind it
}

func (f flow) text() string {
	steps := fmt.Sprintf("step(\"get\", http.get(%q))", f.URL)
	head := f.Head
	if f.Step != "" {
		steps = f.Step
	}
	if f.Function {
		head = fmt.Sprintf("def get_%[1]s(vu):\n    return vu.http.get(%[2]q)\n\ndef is_ok_%[1]s(vu, get):\n    return get.status == 200\n\n", f.Name, f.URL)
		steps = fmt.Sprintf("step(\"get\", get_%[1]s), check(is_ok_%[1]s, after = [\"get\"])", f.Name)
	}
	load := fmt.Sprintf("vus = %d, duration = %q", f.VUs, f.Duration)
	if f.Within > 0 {
		load = fmt.Sprintf("stages = [stage(%[1]q, vus = %[2]d), stage(%[3]q, vus = %[2]d)]", f.Within, f.VUs, f.Duration-f.Within)
	}
	return fmt.Sprintf("%sworkflow(name = %q, %s, %ssteps = [%s])\n", head, f.Name, load, f.More, steps)
}

// ours is the program that is compared.
type ours struct {
	binary string
	dir    string
}

// write keeps workflows in a file.
func (o ours) write(name string, flows ...flow) (string, error) {
	var text strings.Builder
	for _, f := range flows {
		text.WriteString(f.text())
	}
	path := filepath.Join(o.dir, name+".star")
	return path, os.WriteFile(path, []byte(text.String()), 0o644)
}

// refuses returns why a file of ours is not understood: what this build cannot do
// yet. Nothing means that it can.
func (o ours) refuses(path string) string {
	out, err := exec.Command(o.binary, "validate", path).CombinedOutput()
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimPrefix(first, o.dir+"/")
}

// contender makes a client of a file. Its results are read from the file that it
// writes, as users do who want figures.
func (o ours) contender(path string, cores int, limit time.Duration) contender {
	result := strings.TrimSuffix(path, ".star") + ".json"
	return contender{name: "hyperscale", file: result, read: readOurs, command: command{
		Args: []string{o.binary, "run", path, "--cores", strconv.Itoa(cores), "--quiet", "--ui", "none", "--allow-custom", "--out", "json=" + result}, Limit: limit,
	}}
}
