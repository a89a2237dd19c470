package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/trace"
)

// TestSamplesOfARun: all executors write into one file, whose lines are what the target counted,
// by status, and whose last line adds up.
func TestSamplesOfARun(t *testing.T) {
	url := serveTarget(t)
	file := write(t, "load.star", `
target = param("target")
workflow(name = "load", vus = 8, rate = "100/s", duration = "1s", timeout = "5s", steps = [
    step("a", http.get(target + "/digest", auth = http.digest("user", secret("p")))),
    step("b", http.get(target + "/redirect", redirects = 1)),
])`)
	name := filepath.Join(t.TempDir(), "samples")
	t.Setenv("HYPERSCALE_SECRET_P", "pass")
	run(t, 0, "run", file, "--set", "target="+url, "--cores", "2", "--ui", "none", "--trace", "1/1="+name).
		says(`trace: [0-9]+ sampled requests, 0 left out`)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	var s trace.Summary
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
		t.Fatal(err)
	}
	got, seen := map[string]uint64{}, stats(t, url)
	for _, line := range lines[:len(lines)-1] {
		var one struct{ Status int }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got[fmt.Sprint(one.Status)]++
	}
	want := trace.Summary{Summary: true, Every: 1, Sampled: seen.Requests, Written: seen.Requests}
	if !maps.Equal(got, seen.Statuses) || s != want || seen.Requests < 250 {
		t.Errorf("the lines have %v, the target %v; the last line is %+v, want %+v", got, seen.Statuses, s, want)
	}
}

func TestSamplesAreRefused(t *testing.T) {
	t.Parallel()
	file := write(t, "load.star", `workflow(name = "w", steps = [step("a", http.get("http://127.0.0.1:1/"))])`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", file, "--trace", "1000"}, `write 1/N or 1/N=FILE`},
		{[]string{"run", file, "--trace", "1/10=" + t.TempDir()}, `name a file that can be written`},
		{[]string{"run", file, "--trace", "1/10", "--debug"}, `says nothing to --debug`},
		{[]string{"submit", file, "--gate", "127.0.0.1:1", "--trace", "1/10"}, `run FILE --trace 1/1000`},
	} {
		run(t, command.ExitUsage, c.args...).says(c.want)
	}
}
